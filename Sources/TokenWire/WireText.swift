internal import CProtobufC
internal import TokenModel

/// A value that is encoded as text.
package protocol WireText {
    /// Parses the text; nil if it is no value, such as blank text.
    init?(_ text: String)

    var wireText: String { get }
}

extension String: WireText {
    package var wireText: String { self }
}

extension ClientID: WireText {
    package var wireText: String { text }
}

extension FamilyID: WireText {
    package var wireText: String { text }
}

extension HomeAccountID: WireText {
    package var wireText: String { text }
}

extension CorrelationID: WireText {
    package var wireText: String { description }
}

extension WireFields {
    /// The sharing group; the standard one if the field is absent. A blank name is refused.
    mutating func sharingGroup(_ value: SharingGroup?) throws(TokenError) -> SharingGroup {
        guard let name = try text("sharing_group", value?.name) else { return .standard }
        return try Self.required("sharing_group", SharingGroup(name))
    }

    /// A list of client IDs. Blank ones are refused.
    mutating func clientIDs(_ name: StaticString, _ value: [ClientID]?) throws(TokenError) -> [ClientID] {
        let texts = try texts(name, value?.map(\.text))
        if let value { return value }
        var clientIDs: [ClientID] = []
        for text in texts { clientIDs.append(try Self.required(name, ClientID(text))) }
        return clientIDs
    }

    /// - Throws: `malformedMessage` (-53001) if there are scopes and all are blank: no scopes mean something else.
    mutating func scopes(_ name: StaticString, _ value: ScopeSet?) throws(TokenError) -> ScopeSet {
        let texts = try texts(name, value?.scopes)
        if let value { return value }
        let scopes = ScopeSet(texts)
        return try Self.required(name, scopes.isEmpty && !texts.isEmpty ? nil : scopes)
    }

    /// The seconds until a sign-in expires: a day at most, whatever the message says.
    mutating func lifetime(_ name: StaticString, _ value: Int64?) -> Int64 {
        min(max(number(name, value) ?? 0, 0), 86_400)
    }
}

extension WireArena {
    func copy(_ text: String) -> ProtobufCBinaryData {
        var text = text
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }
}

/// The application (client) ID under which an app is registered (RFC 6749 section 2.2). Compared regardless of case;
/// the agent gives an app of an OpenID provider the tokens of its exact client ID only.
public struct ClientID: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as the app gave it, without surrounding white space; never empty.
    public let text: String

    /// Returns nil if `text` is blank.
    public init?(_ text: String) {
        guard let text = text.trimmedNonEmpty else { return nil }
        self.text = text
        self.key = text.inLowerCase
    }

    fileprivate init(unchecked text: String) { (self.text, key) = (text, text.inLowerCase) }

    /// A placeholder client ID, for requests of `ssoctl` that concern no app.
    package static let commandLine = ClientID(unchecked: "ssoctl")

    /// The identifier in lower case, for cache keys and comparisons.
    package let key: String

    /// Whether this is a family's client ID, as in ``FamilyID/clientID``.
    package var isOfFamily: Bool { key.hasPrefix(FamilyID.clientIDPrefix) }

    /// The identifier as given.
    public var description: String { text }
    /// Case does not matter; canonically equivalent identifiers with other bytes are not equal.
    public static func == (left: Self, right: Self) -> Bool { left.key.hasSameBytes(as: right.key) }
    /// Case does not matter.
    public func hash(into hasher: inout Hasher) { key.hashBytes(into: &hasher) }
}

/// The identifier of an account, the same in every tenant: `<object ID>.<home tenant ID>` for Entra accounts, the `sub`
/// claim for others.
///
/// Lower-cased and trimmed, as the token caches of Microsoft's libraries store it. Case matters in the `sub` of other OpenID
/// providers: if it has capital letters, `#` and a hash of it follow.
public struct HomeAccountID: Sendable, Hashable, CustomStringConvertible {
    /// The normalised identifier; never empty.
    public let text: String

    /// Returns nil if `text` is blank.
    public init?(_ text: String) {
        guard let text = text.trimmedNonEmpty else { return nil }
        self.text = text.inLowerCase
    }

    /// Joins the two parts of `client_info`; nil if either is blank.
    public init?(uid: String?, utid: String?) {
        guard let uid = uid?.trimmedNonEmpty, let utid = utid?.trimmedNonEmpty else { return nil }
        self.text = "\(uid).\(utid)".lowercased()
    }

    /// Identifiers are equal if their bytes are, as on the disk.
    public static func == (left: HomeAccountID, right: HomeAccountID) -> Bool { left.text.hasSameBytes(as: right.text) }
    /// By the bytes.
    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// The account that the `client_info` of a token response names: base64url-encoded JSON `{"uid":…,"utid":…}`.
    package static func named(in clientInfo: String) -> HomeAccountID? {
        guard let json = Base64URL.decode(clientInfo),
            let object = try? JSONReader.read(Array(json), maximumValues: JSONReader.valuesOfMessage)
        else { return nil }
        return HomeAccountID(uid: object["uid"]?.string, utid: object["utid"]?.string)
    }

    /// The account that the `client_info` of a response without tokens names; nil if no account of the cache can have its identifier, so that
    /// there is none to look for.
    package static func storable(namedIn clientInfo: String) -> HomeAccountID? {
        named(in: clientInfo).flatMap { ValueLimits.isIdentifier($0.text) ? $0 : nil }
    }

    /// The object ID in the home tenant; nil unless the identifier has exactly two parts.
    public var objectID: String? { separator.map { String(text[..<$0]) } }

    /// The home tenant ID; nil unless the identifier has exactly two parts.
    public var tenantID: String? { separator.map { String(text[text.utf8.index(after: $0)...]) } }

    /// Whether this is a personal Microsoft account; all of them are in one tenant.
    package var isPersonal: Bool { tenantID == Self.personalTenantID }

    /// The tenant of all personal Microsoft accounts.
    package static let personalTenantID = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The position of the only dot, if there is text on both sides of it.
    private var separator: String.Index? {
        let bytes = text.utf8
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex else { return nil }
        let rest = bytes[bytes.index(after: dot)...]
        return rest.isEmpty || rest.contains(UInt8(ascii: ".")) ? nil : dot
    }

    /// The text of the identifier.
    public var description: String { text }
}

/// A group of first-party client IDs that share refresh tokens; `"1"` in practice.
public struct FamilyID: Sendable, Hashable, CustomStringConvertible {
    /// The number of the family, as in the field `foci` of a token response; never empty.
    public let text: String

    /// Returns nil if `text` is blank.
    public init?(_ text: String) {
        guard let text = text.trimmedNonEmpty else { return nil }
        self.text = text
    }

    /// The family that an app with no app metadata may belong to.
    package static let presumed = FamilyID(unchecked: "1")

    private init(unchecked text: String) { self.text = text }

    /// The client ID under which ADAL for Objective-C saves the family's refresh token. No app has it.
    package var clientID: ClientID { ClientID(unchecked: Self.clientIDPrefix + text) }

    /// The beginning of the client IDs of families, in lower case.
    package static let clientIDPrefix = "foci-"

    /// The family's number.
    public var description: String { text }
}

/// A partition of the agent's cache: an app sees the accounts of the sharing group that it names.
///
/// A partition, not a permission: an app can name any group, unless a rule of the access policy refuses it.
public struct SharingGroup: Sendable, Hashable, CustomStringConvertible {
    /// The group's name.
    public let name: String

    /// The group both Microsoft libraries use when the app names none.
    public static let standard = SharingGroup(unchecked: "com.microsoft.adalcache")

    /// Returns nil if `name` is blank.
    public init?(_ name: String) {
        guard let name = name.trimmedNonEmpty else { return nil }
        self.name = name
    }

    private init(unchecked name: String) { self.name = name }

    /// Groups are equal if the bytes of their names are, as on the disk.
    public static func == (left: SharingGroup, right: SharingGroup) -> Bool { left.name.hasSameBytes(as: right.name) }
    /// By the bytes.
    public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }

    /// The group's name.
    public var description: String { name }
}

extension StringProtocol {
    /// The text without surrounding white space; nil if nothing is left.
    package var trimmedNonEmpty: String? {
        // A fast path: most texts are identifiers in ASCII without white space.
        if !isEmpty, isGraphicASCII { return String(self) }
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return nil }
        return String(self[first...last])
    }
}

extension String {
    /// The text without surrounding white space; nil if nothing is left. As the property of `StringProtocol`, without
    /// the cost of generic code.
    package var trimmedNonEmpty: String? {
        if !isEmpty, isGraphicASCII { return self }
        return self[...].trimmedNonEmpty
    }
}

/// A tenant of Entra ID: its domain, its ID, or `common`, `organizations` or `consumers`.
package struct TenantName: Sendable, Equatable {
    package let text: String

    /// Returns nil if the text cannot be one segment of a URL's path, such as `..`.
    package init?(_ text: String) {
        guard let text = text.trimmedNonEmpty, text.utf8.first?.isASCIILetterOrDigit == true,
            text.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) })
        else { return nil }
        self.text = text
    }
}

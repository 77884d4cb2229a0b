/// Encodes values as JSON (RFC 8259), with the members of an object in the order of their names.
///
/// It writes each value once, behind the one before; Foundation's encoder makes a tree first. It is for types of this package whose coding
/// is synthesised: a type that asks for a nested container or for the encoder of a superclass ends the process.
package final class JSONText: Encoder {
    /// The value as text.
    ///
    /// - Parameter isOnOneLine: whether all of it is on one line, instead of each member and item on its own.
    package static func of(_ value: some Encodable, isOnOneLine: Bool = false) -> String {
        let text = JSONText(isOnOneLine: isOnOneLine)
        // A synthesised coding throws no errors of its own.
        guard (try? text.encode(value)) != nil else { return "" }
        return String(decoding: text.output.bytes, as: UTF8.self)
    }

    package let codingPath: [any CodingKey] = []
    package let userInfo: [CodingUserInfoKey: Any] = [:]

    // A check at each access costs more than what most of them write. No access calls code that can reach this encoder, which has one thread.
    @exclusivity(unchecked)
    fileprivate var output: JSONOutput

    private init(isOnOneLine: Bool) { output = JSONOutput(isOnOneLine: isOnOneLine) }

    package func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        output.begin(.object)
        return KeyedEncodingContainer(JSONMembers(text: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        output.begin(.list)
        return JSONItems(text: self)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { JSONScalar(text: self) }

    fileprivate func encode(_ value: some Encodable) throws {
        output.open()
        try value.encode(to: self)
        output.close()
    }

    fileprivate func write(_ object: some JSONObject) {
        output.begin(.object)
        object.write(to: &output)
    }

    fileprivate static let noNesting = "JSONText has no nested containers"
}

extension JSONObject {
    /// Writes the object. Another encoder than `JSONText` ends the process.
    package func encode(to encoder: any Encoder) throws {
        guard let text = encoder as? JSONText else { preconditionFailure("an object is written by JSONText only") }
        text.write(self)
    }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let text: JSONText
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {
        text.output.beginMember(key.stringValue)
        text.output.writeNull()
        text.output.endMember()
    }

    mutating func encode(_ value: String, forKey key: Key) { text.output.writeMember(key.stringValue, value) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        text.output.beginMember(key.stringValue)
        try text.encode(value)
        text.output.endMember()
    }

    mutating func nestedContainer<Nested>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { preconditionFailure(JSONText.noNesting) }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        preconditionFailure(JSONText.noNesting)
    }

    mutating func superEncoder() -> any Encoder { preconditionFailure(JSONText.noNesting) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { preconditionFailure(JSONText.noNesting) }
}

/// The items of a list.
private struct JSONItems: UnkeyedEncodingContainer {
    let text: JSONText
    var codingPath: [any CodingKey] { [] }
    private(set) var count = 0

    mutating func encodeNil() {
        beginItem()
        text.output.writeNull()
    }

    mutating func encode(_ value: some Encodable) throws {
        beginItem()
        try text.encode(value)
    }

    private mutating func beginItem() {
        text.output.beginItem()
        count += 1
    }

    mutating func nestedContainer<Nested>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        preconditionFailure(JSONText.noNesting)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure(JSONText.noNesting) }

    mutating func superEncoder() -> any Encoder { preconditionFailure(JSONText.noNesting) }
}

/// A value that is neither an object nor a list, or that is encoded as another value.
private struct JSONScalar: SingleValueEncodingContainer {
    let text: JSONText
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() { text.output.writeNull() }
    mutating func encode(_ value: Bool) { text.output.write(value) }
    mutating func encode(_ value: String) { text.output.write(value) }
    mutating func encode(_ value: Double) { text.output.write(value) }
    mutating func encode(_ value: Float) { text.output.write(Double(value)) }
    mutating func encode(_ value: some Encodable & FixedWidthInteger) { text.output.write(value) }
    mutating func encode(_ value: some Encodable) throws { try text.encode(value) }
}

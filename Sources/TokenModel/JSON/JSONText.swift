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

    // A check at each access costs more than what most of them write. No access calls code outside this file, and an encoder has one thread.
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

    fileprivate static let noNesting = "JSONText has no nested containers"
}

/// The text that has been written, and the values in it that are not finished.
private struct JSONOutput {
    private(set) var bytes: [UInt8] = []
    private let isOnOneLine: Bool
    /// The values that are not finished, each within the one before.
    private var values: [OpenValue] = []
    /// The members of the objects among them.
    private var members: [Member] = []
    /// What begins a line: a line feed, and two blanks for each object and list among them.
    private var line = [UInt8(ascii: "\n")]

    enum Kind { case scalar, object, list }

    private struct OpenValue {
        var kind = Kind.scalar
        /// The offset of its first byte.
        let start: Int
        let firstMember: Int
        var count = 0
    }

    /// A member of an object: its name, and its bytes from the name to the end of the value.
    private struct Member {
        let name: String
        let start: Int
        var end: Int
    }

    init(isOnOneLine: Bool) { self.isOnOneLine = isOnOneLine }

    // MARK: Scalars

    mutating func write(_ flag: Bool) { add(flag ? "true" : "false") }

    mutating func write(_ text: String) { JSONTree.write(text, to: &bytes) }

    mutating func write(_ number: some BinaryInteger) { bytes.append(contentsOf: number.description.utf8) }

    /// A number that JSON does not have is null.
    mutating func write(_ number: Double) {
        guard number.isFinite else { return writeNull() }
        let digits = number.description.utf8
        let isWhole = digits.suffix(2).elementsEqual(".0".utf8)
        bytes.append(contentsOf: digits.dropLast(isWhole ? 2 : 0))
    }

    mutating func writeNull() { add("null") }

    // MARK: Objects and lists

    /// Opens a value, which is a scalar unless `begin` is called.
    mutating func open() { values.append(OpenValue(start: bytes.count, firstMember: members.count)) }

    /// Begins the object or the list that the open value is, unless it has begun already.
    mutating func begin(_ kind: Kind) {
        guard let last = values.indices.last, values[last].kind == .scalar else { return }
        values[last].kind = kind
        line += "  ".utf8
        add(kind == .object ? "{" : "[")
    }

    mutating func beginItem() {
        guard let last = values.indices.last else { return }
        if values[last].count > 0 { add(",") }
        values[last].count += 1
        addLine()
    }

    mutating func beginMember(_ name: String) {
        beginItem()
        members.append(Member(name: name, start: bytes.count, end: bytes.count))
        write(name)
        add(isOnOneLine ? ":" : " : ")
    }

    /// A whole member: each access of the output from another type costs more than the text.
    mutating func writeMember(_ name: String, _ value: String) {
        beginMember(name)
        write(value)
        endMember()
    }

    /// Ends the member that was begun last and has not ended.
    mutating func endMember() {
        guard let last = members.indices.last else { return }
        members[last].end = bytes.count
    }

    mutating func close() {
        let value = values.removeLast()
        guard value.kind != .scalar else { return }
        if value.kind == .object { sortMembers(of: value) }
        line.removeLast(2)
        if value.count > 0 { addLine() }
        add(value.kind == .object ? "}" : "]")
    }

    /// Sorts the members by name. Of several with one name, the last one stays.
    private mutating func sortMembers(of object: OpenValue) {
        let unsorted = members[object.firstMember...]
        defer { members.removeSubrange(object.firstMember...) }
        guard !zip(unsorted, unsorted.dropFirst()).allSatisfy({ $0.name < $1.name }) else { return }
        let start = object.start
        let ranges = Dictionary(unsorted.map { ($0.name, $0.start - start..<$0.end - start) }) { _, later in later }
        // The object alone: a slice would share its storage with all that is written, which the removal would then copy.
        let old = Array(bytes[start...])
        // The bracket stays.
        bytes.removeSubrange((start + 1)...)
        for (index, member) in ranges.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { add(",") }
            addLine()
            bytes.append(contentsOf: old[member.value])
        }
    }

    private mutating func addLine() {
        if !isOnOneLine { bytes.append(contentsOf: line) }
    }

    private mutating func add(_ ascii: StaticString) {
        if ascii.utf8CodeUnitCount == 1 { return bytes.append(ascii.utf8Start.pointee) }
        bytes.append(contentsOf: UnsafeBufferPointer(start: ascii.utf8Start, count: ascii.utf8CodeUnitCount))
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

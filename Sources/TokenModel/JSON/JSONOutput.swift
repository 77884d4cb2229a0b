/// An object of which a list may have thousands: it writes its members directly, which takes half of the instructions of a synthesised coding.
package protocol JSONObject: Encodable {
    /// Writes the members, in the order of their names. A member without a value is left out.
    func write(to output: inout JSONOutput)
}

/// The text that has been written, and the values in it that are not finished.
package struct JSONOutput {
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
        /// The name of the member that an object has written last.
        var lastName: StaticString = ""
    }

    /// A member of an object with a synthesised coding: its name, and its bytes from the name to the end of the value.
    private struct Member {
        let name: String
        let start: Int
        var end: Int
    }

    init(isOnOneLine: Bool) { self.isOnOneLine = isOnOneLine }

    // MARK: The members of an object that writes them itself

    /// Writes a member, unless it has no value.
    package mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        begin(member: name)
        write(text)
    }

    package mutating func member(_ name: StaticString, _ flag: Bool) {
        begin(member: name)
        write(flag)
    }

    package mutating func member(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        begin(member: name)
        write(number)
    }

    package mutating func member(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        begin(member: name)
        list(texts) { $0.write($1) }
    }

    package mutating func member(_ name: StaticString, _ object: (some JSONObject)?) {
        guard let object else { return }
        begin(member: name)
        write(object)
    }

    package mutating func member(_ name: StaticString, _ objects: [some JSONObject]?) {
        guard let objects else { return }
        begin(member: name)
        list(objects) { $0.write($1) }
    }

    private mutating func begin(member name: StaticString) {
        assert("\(values[values.count - 1].lastName)" < "\(name)", "\(name) is not in the order of the names")
        values[values.count - 1].lastName = name
        beginItem()
        add("\"")
        add(name)
        add(isOnOneLine ? "\":" : "\" : ")
    }

    private mutating func write(_ object: some JSONObject) {
        open()
        begin(.object)
        object.write(to: &self)
        close()
    }

    private mutating func list<Item>(_ items: [Item], _ write: (inout Self, Item) -> Void) {
        open()
        begin(.list)
        for item in items {
            beginItem()
            write(&self, item)
        }
        close()
    }

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
        // An object that writes its members itself has none here.
        if value.kind == .object, members.count > value.firstMember { sortMembers(of: value) }
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

/// A JSON value with members in their order and numbers in their digits, so that unknown fields of another library are written
/// again unchanged.
package enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The digits as they were written.
    case number(String)
    case text(String)
    case list([JSONTree])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: JSONTree

        package init(name: String, value: JSONTree) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the member with this name, of several the last; nil if there is none, or if this is not an object. Names are equal if
    /// their bytes are (RFC 8259 section 8.3).
    package subscript(name: String) -> JSONTree? {
        members.last { $0.name.hasSameBytes(as: name) }?.value
    }

    /// The members of an object; empty for anything else.
    package var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// The values of a list; empty for anything else.
    package var values: [JSONTree] { if case .list(let values) = self { values } else { [] } }

    package var isObject: Bool { if case .object = self { true } else { false } }

    /// The string, unless it is blank; nil for anything else.
    package var string: String? {
        guard case .text(let text) = self, text.trimmedNonEmpty != nil else { return nil }
        return text
    }

    /// A whole number, also one in a string, or with a fraction, which is dropped: libraries write times in all these forms.
    package var integer: Int64? {
        let digits: String
        switch self {
        case .number(let text): digits = text
        case .text(let text): digits = text
        case .null, .bool, .list, .object: return nil
        }
        guard let digits = digits.trimmedNonEmpty, digits.utf8.count <= Self.longestNumber else { return nil }
        return Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }

    /// The whole number in the form of `example`: its digits if the values are equal, with a fraction if it has one. `self` if
    /// `example` is not a number.
    package func number(inFormOf example: JSONTree) -> JSONTree {
        guard case .number(let digits) = example, let integer else { return self }
        if example.integer == integer { return example }
        return .number(digits.contains(".") ? "\(integer).0" : "\(integer)")
    }

    /// The value with the members of all objects in it in the order of their names.
    package var sorted: JSONTree {
        switch self {
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { $0.name < $1.name })
        case .list(let values): .list(values.map(\.sorted))
        case .null, .bool, .number, .text: self
        }
    }

    package var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }

    private static let longestNumber = 32
}

extension JSONTree {
    /// The value as JSON on one line, in UTF-8.
    package var json: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value as JSON. The recursion is no deeper than the reader allows.
    package func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .text(let value): Self.write(value, to: &bytes)
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string as JSON.
    package static func write(_ value: String, to bytes: inout [UInt8]) {
        var value = value
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8 { characters in
            guard !isPlain(characters) else { return bytes.append(contentsOf: characters) }
            var start = 0
            for index in characters.indices where escape(of: characters[index]) != 0 {
                bytes.append(contentsOf: characters[start..<index])
                writeEscaped(characters[index], to: &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: characters[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether no character needs an escape. There is no branch for each byte, and no `||`, so that the compiler checks several at once.
    private static func isPlain(_ characters: UnsafeBufferPointer<UInt8>) -> Bool {
        var escapes: UInt8 = 0
        for byte in characters { escapes |= escape(of: byte) }
        return escapes == 0
    }

    /// 1 if the byte needs an escape.
    @inline(__always) private static func escape(of byte: UInt8) -> UInt8 {
        (byte < 0x20 ? 1 : 0) | (byte == 0x7F ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0)
            | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }

    private static func writeEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): bytes += #"\""#.utf8
        case UInt8(ascii: "\\"): bytes += #"\\"#.utf8
        case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
        case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
        case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
        default:
            let hex = String(byte, radix: 16)
            bytes += #"\u00"#.utf8
            if byte < 0x10 { bytes.append(UInt8(ascii: "0")) }
            bytes += hex.utf8
        }
    }
}

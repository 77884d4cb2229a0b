internal import TokenModel

/// A JSON value as another library wrote it: members in their order and numbers in their digits, so that what nobody
/// here understands can be written again unchanged.
enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The digits as they stand.
    case number(String)
    case text(String)
    case list([JSONTree])
    case object([Member])

    struct Member: Sendable, Equatable {
        var name: String
        var value: JSONTree
    }

    /// The member of that name, the last of several; nil also where there is none because this is no object.
    subscript(name: String) -> JSONTree? {
        members.last { $0.name == name }?.value
    }

    /// An object's members; none of anything else.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// A list's values; none of anything else.
    var values: [JSONTree] { if case .list(let values) = self { values } else { [] } }

    var isObject: Bool { if case .object = self { true } else { false } }

    /// A text that is not blank, as it stands.
    var string: String? {
        guard case .text(let text) = self, text.trimmedNonEmpty != nil else { return nil }
        return text
    }

    /// A whole number, also one in a text or with a fraction, which is dropped: libraries write times in all these ways.
    var integer: Int64? {
        let digits: String
        switch self {
        case .number(let text): digits = text
        case .text(let text): digits = text
        case .null, .bool, .list, .object: return nil
        }
        guard let digits = digits.trimmedNonEmpty, digits.utf8.count <= Self.longestNumber else { return nil }
        return Int64(digits) ?? Double(digits).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }

    /// The same with the members of objects in the order of their names.
    var sorted: JSONTree {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { $0.name < $1.name })
    }

    var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }

    private static let longestNumber = 32
}

extension JSONTree {
    /// JSON on one line, in ASCII or UTF-8 as the texts are.
    var json: String {
        var text = ""
        write(to: &text)
        return text
    }

    /// Adds the JSON to `text`. Not deeper than what was read, so that it needs no limit of its own.
    func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .text(let value): Self.write(value, to: &text)
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let hex = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

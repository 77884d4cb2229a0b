internal import TokenModel

/// A JSON value of a kind not known beforehand: Entra's v1 endpoint sends numbers as strings.
enum JSONValue: Sendable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case list([JSONValue])
    case dictionary([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .dictionary(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .dictionary(let members): try container.encode(members)
        }
    }

    /// A string that is not blank, as it stands.
    var text: String? {
        if case .string(let text) = self, text.trimmedNonEmpty != nil { text } else { nil }
    }

    /// A whole number, also out of `"3599"`, `3599.0` and `"3599.0"`; fractions are dropped.
    var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Self.whole(value)
        case .string(let text):
            text.trimmedNonEmpty.flatMap { Int64($0) ?? Double($0).flatMap(Self.whole) }
        case .null, .bool, .list, .dictionary: nil
        }
    }

    var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    var array: [JSONValue]? { if case .list(let values) = self { values } else { nil } }

    var object: JSONObject? { if case .dictionary(let members) = self { JSONObject(members) } else { nil } }

    private static func whole(_ value: Double) -> Int64? { Int64(exactly: value.rounded(.towardZero)) }
}

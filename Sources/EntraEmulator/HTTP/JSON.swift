/// A JSON value, for replies and claims whose members vary.
package enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(_ text: String?) {
        self = text.map(JSON.string) ?? .null
    }

    init(_ texts: [String]) {
        self = .array(texts.map(JSON.string))
    }

    /// The object without its null members, which the services omit.
    var withoutNulls: JSON {
        guard case .object(let fields) = self else { return self }
        return .object(fields.filter { $0.value != .null })
    }

    /// The object with these members added; they replace members of the same name.
    func merging(_ members: [String: JSON]) -> JSON {
        guard case .object(let fields) = self else { return self }
        return .object(fields.merging(members) { $1 })
    }
}

extension JSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }

    package init(integerLiteral value: Int) {
        self = .number(value)
    }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    package init(arrayLiteral elements: JSON...) {
        self = .array(elements)
    }

    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSON: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) {
        self = .null
    }
}

internal import TokenModel

/// The claims of a JSON Web Token (RFC 7519).
enum TokenClaims {
    /// Reads the claims. The signature is not checked: they are for a person to look at.
    ///
    /// - Throws: `unsupportedFunctionality` (-51114) if the token is not a signed one, or the claims are not a JSON object.
    static func decode(_ token: String) throws(TokenError) -> JSONValue {
        guard let tree = tree(of: token) else {
            throw TokenError(
                .unsupportedFunctionality,
                "the token has no claims that can be read: its content is for the resource only")
        }
        return JSONValue(tree)
    }

    /// The claim `exp`, in seconds since 1970; nil if the token does not have it as an integer.
    static func end(of token: String) -> Int64? { tree(of: token)?["exp"]?.integer }

    /// The claims as an object; nil if they cannot be read.
    private static func tree(of token: String) -> JSONTree? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(parts[1]),
            let tree = try? JSONReader.read(Array(bytes), maximumValues: JSONReader.valuesOfMessage), tree.isObject
        else { return nil }
        return tree
    }
}

/// A JSON value that is part of what a command prints.
struct JSONValue: Encodable {
    private let tree: JSONTree

    init(_ tree: JSONTree) { self.tree = tree }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        switch tree {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                try container.encode(JSONValue(member.value), forKey: Name(stringValue: member.name))
            }
        case .list(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(JSONValue(value)) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .text(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let digits):
            var container = encoder.singleValueContainer()
            if let number = Int64(digits) {
                try container.encode(number)
            } else {
                try container.encode(Double(digits) ?? 0)
            }
        }
    }
}

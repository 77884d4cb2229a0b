internal import Foundation

/// The fields of a query or of an `application/x-www-form-urlencoded` body. The last of two fields with one name wins.
///
/// The emulator encodes and decodes forms independently of the agent on purpose: a defect that both shared would pass every
/// test.
struct Parameters: Sendable, Equatable {
    private(set) var fields: [String: String] = [:]
    /// The name of a field that occurs several times in a query or in a form; nil if there is none.
    private(set) var repeatedName: String?

    init() {}

    init(_ fields: [String: String]) {
        self.fields = fields
    }

    init(encoded: some StringProtocol) {
        for pair in encoded.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
            if fields.updateValue(value, forKey: name) != nil, repeatedName == nil { repeatedName = name }
        }
    }

    /// The value of a field; nil for an empty field, which the services treat as missing.
    subscript(name: String) -> String? {
        get { fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        set { fields[name] = newValue }
    }

    /// The value of a field that has to be present.
    ///
    /// - Throws: the services' error for a missing field.
    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = self[name] else { throw .missingParameter(name) }
        return value
    }

    /// The words of a space-separated field, in order and without duplicates.
    func words(_ name: String) -> [String] {
        var seen: Set<String> = []
        return (self[name] ?? "").split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }

    func merging(_ other: Parameters) -> Parameters {
        var merged = Parameters(fields.merging(other.fields) { _, last in last })
        merged.repeatedName = repeatedName ?? other.repeatedName
        return merged
    }

    /// The encoded fields, sorted by name, so that equal fields have equal encodings.
    var encoded: String {
        fields.sorted { $0.key < $1.key }
            .map { "\(Self.encode($0.key))=\(Self.encode($0.value))" }
            .joined(separator: "&")
    }

    private static func decode(_ text: some StringProtocol) -> String {
        let spaced = String(text.map { $0 == "+" ? " " : $0 })
        return spaced.removingPercentEncoding ?? spaced
    }

    private static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    /// The unreserved characters of RFC 3986 section 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// Encodes bytes as base64url without padding (RFC 4648 section 5).
func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// Decodes base64url text; nil if it is malformed.
func data(base64URL text: some StringProtocol) -> Data? {
    let standard = String(text).replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
}

/// Escapes text for the content and the attributes of an HTML page.
func htmlEscaped(_ text: String) -> String {
    // By scalars: a quotation mark forms one `Character` with a combining character behind it.
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        default: escaped.unicodeScalars.append(scalar)
        }
    }
}

internal import Foundation

/// The fields of a query or of an `application/x-www-form-urlencoded` body. The last of two fields with one name wins.
///
/// The emulator encodes and decodes forms independently of the agent on purpose: a defect that both shared would pass every
/// test.
struct Parameters: Sendable, Equatable {
    private(set) var fields: [String: String] = [:]

    init() {}

    init(_ fields: [String: String]) {
        self.fields = fields
    }

    init(encoded: some StringProtocol) {
        for pair in encoded.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[Self.decode(parts[0])] = parts.count > 1 ? Self.decode(parts[1]) : ""
        }
    }

    /// The value of a field; an empty one counts as absent, as the services treat it.
    subscript(name: String) -> String? {
        get { fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        set { fields[name] = newValue }
    }

    /// The value of a field, or the error a service answers with when it is missing.
    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = self[name] else { throw .missingParameter(name) }
        return value
    }

    /// The words of a space-separated field, in order, each once.
    func words(_ name: String) -> [String] {
        var seen: Set<String> = []
        return (self[name] ?? "").split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }

    func merging(_ other: Parameters) -> Parameters {
        Parameters(fields.merging(other.fields) { _, last in last })
    }

    /// Sorted by name, so that the same fields always give the same text.
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

    /// RFC 3986 section 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

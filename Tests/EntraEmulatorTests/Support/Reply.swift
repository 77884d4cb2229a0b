internal import Foundation

@testable internal import EntraEmulator

/// An HTTP response with its complete body.
struct Reply: Sendable {
    var status: Int
    /// The header fields, with names in lower case.
    var headers: [String: String]
    var body: String

    /// The members of a JSON body; empty for any other body.
    var fields: [String: JSON] {
        (try? JSONDecoder().decode([String: JSON].self, from: Data(body.utf8))) ?? [:]
    }

    subscript(name: String) -> JSON? { fields[name] }

    func text(_ name: String) -> String? {
        if case .string(let text) = fields[name] { text } else { nil }
    }

    /// The fields after the `?` or `#` of the redirect.
    var redirect: Parameters {
        let query = (headers["location"] ?? "").split(maxSplits: 1) { $0 == "?" || $0 == "#" }.last
        return Parameters(encoded: query ?? "")
    }

    /// The claims of a token in the body, without verification.
    func claims(_ name: String) -> [String: JSON] {
        let payload = text(name)?.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        return (try? JSONDecoder().decode([String: JSON].self, from: decodeBase64URL(payload))) ?? [:]
    }
}

func decodeBase64URL(_ text: String) -> Data {
    let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)) ?? Data()
}

internal import Foundation

@testable internal import EntraEmulator

/// An HTTP response, read whole.
struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: String

    /// The fields of a JSON body; none when it is something else.
    var fields: [String: JSON] {
        (try? JSONDecoder().decode([String: JSON].self, from: Data(body.utf8))) ?? [:]
    }

    subscript(name: String) -> JSON? { fields[name] }

    func text(_ name: String) -> String? {
        if case .string(let text) = fields[name] { text } else { nil }
    }

    /// The fields behind the `?` or `#` of the redirect.
    var redirect: Parameters {
        let query = (headers["location"] ?? "").split(maxSplits: 1) { $0 == "?" || $0 == "#" }.last
        return Parameters(encoded: query ?? "")
    }

    /// The claims of a token in the body, not verified.
    func claims(_ name: String) -> [String: JSON] {
        let payload = text(name)?.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        return (try? JSONDecoder().decode([String: JSON].self, from: decodeBase64URL(payload))) ?? [:]
    }
}

func decodeBase64URL(_ text: String) -> Data {
    let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)) ?? Data()
}

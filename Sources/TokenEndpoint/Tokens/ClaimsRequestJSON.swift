internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A claims request as JSON (OpenID Connect Core 1.0 section 5.5).
package struct ClaimsRequestJSON: Sendable {
    private let members: [String: JSONValue]

    /// - Parameter json: text that is not a JSON object counts as an empty request.
    package init(_ json: String) {
        members = (try? JSONDecoder().decode([String: JSONValue].self, from: Data(json.utf8))) ?? [:]
    }

    /// The request with the client capabilities as `access_token.xms_cc.values`; nil if it cannot be encoded.
    package func adding(capabilities: [String]) -> String? {
        var merged = members
        var accessToken: [String: JSONValue] = [:]
        if case .dictionary(let asked) = merged["access_token"] { accessToken = asked }
        accessToken["xms_cc"] = .dictionary(["values": .list(capabilities.map { .string($0) })])
        merged["access_token"] = .dictionary(accessToken)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(merged)).map { String(decoding: $0, as: UTF8.self) }
    }
}

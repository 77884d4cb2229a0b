internal import AgentClient
internal import Foundation
internal import Testing
internal import TokenModel

extension AgentClient {
    /// The refresh tokens in the cache, read from an export.
    func exportedRefreshTokens() async throws -> Set<String> {
        let exported = try await exportCache(.msalJSON, includesSecrets: true)
        let root = try JSONSerialization.jsonObject(with: Data(exported.reveal().utf8)) as? [String: Any]
        let section = try #require(root?["RefreshToken"] as? [String: [String: Any]])
        return Set(section.values.compactMap { $0["secret"] as? String })
    }
}

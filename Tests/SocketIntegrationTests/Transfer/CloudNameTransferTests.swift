internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// Imports of caches of two libraries with different host names of one cloud.
@Suite(.bounded) struct CloudNameTransferTests {
    private static let asked = "login.microsoftonline.com"
    private static let cached = "login.windows.net"

    /// One file has the access token; the other one has the ID token and everything else, with another host name of the cloud.
    @Test(arguments: [true, false])
    func servesATokenWhoseIDTokenCameUnderAnotherName(isAccessTokenFirst: Bool) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: "https://\(Self.asked)/organizations")
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            let exported = try await f.agent.exportCache(.msalJSON, includesSecrets: true).reveal()
            let account = signedIn.account.reference
            _ = try await f.agent.removeAccount(
                RemoveAccount(clientID: parameters.clientID, account: account, extent: .everything))
            let accessTokens = try Self.sections(of: exported) { $0 == "AccessToken" }
            let others = try Self.sections(of: exported.replacing(Self.asked, with: Self.cached)) {
                $0 != "AccessToken"
            }
            for file in isAccessTokenFirst ? [accessTokens, others] : [others, accessTokens] {
                _ = try await f.agent.importCache(file, format: .msalJSON)
            }
            try await Self.expect(signedIn.accessToken, from: f, account)
            let renewed = try await f.silent(parameters, account, force: true)
            #expect(!renewed.isFromCache)
            try await Self.expect(renewed.accessToken, from: f, account)
            await f.goOffline()
            try await Self.expect(renewed.accessToken, from: f, account)
            try await f.restarted { f in try await Self.expect(renewed.accessToken, from: f, account) }
        }
    }

    /// Expects the token, with its ID token and without the network, at both host names.
    private static func expect(_ token: Secret, from f: AgentFixture, _ account: AccountReference) async throws {
        for host in [asked, cached] {
            let result = try await f.silent(f.parameters(at: "https://\(host)/organizations"), account)
            #expect(result.isFromCache, "\(host)")
            #expect(result.accessToken == token, "\(host)")
            #expect(result.idToken != nil, "\(host)")
        }
    }

    private static func sections(of file: String, where isWanted: (String) -> Bool) throws -> Secret {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(file.utf8)) as? [String: Any])
        let data = try JSONSerialization.data(withJSONObject: root.filter { isWanted($0.key) })
        return Secret(bytes: Array(data))
    }
}

internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// Published sockets of an agent in the process of the test.
extension AgentFixture {
    /// Publishes a socket for app-1, and closes it after a test of it.
    func published(
        file: String = "published.sock", scopes: [String] = [], authorities: [Authority] = [], account: String? = nil,
        lifetime: Int64 = 3600, label: String? = nil, _ body: (AgentClient) async throws -> Void
    ) async throws {
        let path = folder.file(file)
        try await agent.publishSocket(
            PublishSocket(
                path: path, clientIDs: [try #require(ClientID("app-1"))], scopes: ScopeSet(scopes),
                authorities: authorities, account: account, lifetime: lifetime, label: label))
        try await body(AgentClient(socketPath: path, timeout: .seconds(600)))
        _ = try? await agent.unpublishSocket(UnpublishSocket(name: path))
    }

    func token(
        _ client: AgentClient, _ parameters: TokenParameters, _ account: AccountReference = AccountReference()
    ) async throws(TokenError) -> TokenResult {
        try await client.acquireTokenSilent(AcquireTokenSilent(parameters: parameters, account: account))
    }

    func expectDenied(
        _ client: AgentClient, _ parameters: TokenParameters, _ account: AccountReference
    ) async {
        let error = await #expect(throws: TokenError.self) { try await token(client, parameters, account) }
        #expect(error?.code == .requestDenied, "\(error?.message ?? "")")
    }

    /// Imports accounts with refresh tokens of an app; their identifiers sort before those of others.
    func importAccounts(_ count: Int, of app: String, family: String? = nil) async throws {
        let environment = try Authority("\(emulator.url)/common").environment
        var (accounts, tokens) = ([String: Any](), [String: Any]())
        for number in 0..<count {
            let id = "!user-\(number).tenant"
            accounts[id] = [
                "home_account_id": id, "environment": environment, "realm": "tenant",
                "local_account_id": "user-\(number)",
                "username": "user-\(number)@contoso.com", "authority_type": "MSSTS",
            ]
            var token = [
                "home_account_id": id, "environment": environment, "client_id": app, "credential_type": "RefreshToken",
                "secret": "secret-\(number)",
            ]
            token["family_id"] = family
            tokens[id] = token
        }
        let cache = try JSONSerialization.data(withJSONObject: ["Account": accounts, "RefreshToken": tokens])
        _ = try await agent.importCache(Secret(bytes: [UInt8](cache)), format: .msalJSON)
    }
}

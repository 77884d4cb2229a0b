internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import MSALCompat
internal import Testing

/// An MSAL app that shares the cache with ADAL apps.
struct MSALNeighbour {
    let application: MSALPublicClientApplication

    init(_ f: AgentFixture, _ clientID: String = "app-1") throws {
        let authority = try MSALAuthority(url: #require(URL(string: "\(f.emulator.url)/common")))
        let config = MSALPublicClientApplicationConfig(
            clientId: clientID, redirectUri: "http://localhost", authority: authority)
        config.knownAuthorities = [authority]
        application = try MSALPublicClientApplication(
            configuration: config, client: f.agent, presenter: SignInPresenter(method: .deviceCode) { _ in })
    }

    var accounts: [MSALAccount] { get throws { try application.allAccounts() } }

    func account(_ username: String) throws -> MSALAccount { try application.account(forUsername: username) }

    func silent(_ account: MSALAccount) async throws -> MSALResult {
        try await application.acquireTokenSilent(
            with: MSALSilentTokenParameters(scopes: ["User.Read"], account: account))
    }

    /// The code of the error of a silent request; nil if it succeeds.
    func refusal(of account: MSALAccount) async -> Int? {
        do {
            _ = try await silent(account)
            return nil
        } catch {
            return (error as NSError).code
        }
    }
}

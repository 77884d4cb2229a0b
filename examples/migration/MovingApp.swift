import Foundation
import MSAL

/// An app that used ADAL until its last version and uses MSAL now, without another sign-in of its users.
@MainActor struct MovingApp {
    let options: Options
    private let application: MSALPublicClientApplication

    init(options: Options) throws {
        guard let url = URL(string: options.authority) else { throw URLError(.badURL) }
        let authority = try MSALAuthority(url: url)
        let config = MSALPublicClientApplicationConfig(
            clientId: options.clientID, redirectUri: "http://localhost", authority: authority)
        if ["localhost", "127.0.0.1", "::1"].contains(url.host ?? "") { config.knownAuthorities = [authority] }
        self.options = options
        application = try MSALPublicClientApplication(configuration: config)
    }

    /// Acquires a token and saves the identifier of its account.
    func run() async throws {
        var saved = try SavedState(file: options.state)
        let result = try await token(for: find(saved))
        saved.identifier = result.account.identifier
        try saved.save(to: options.state)
        print("saved the identifier \(result.account.identifier ?? "?")")
        print("token for \(options.scopes.joined(separator: " ")) (\(result.accessToken.count) chars)")
    }

    /// Finds the account by its saved identifier, else by the user name of ADAL. Only an app that has saved neither takes the only
    /// account, which may be another user's.
    private func find(_ saved: SavedState) throws -> MSALAccount? {
        if let identifier = saved.identifier, let account = try? application.account(forIdentifier: identifier) {
            print("found \(account.username ?? "?") by the saved identifier")
            return account
        }
        if let userID = saved.userId, let account = try? application.account(forUsername: userID) {
            print("found \(account.username ?? "?") by the userId that ADAL had given")
            return account
        }
        let accounts = try application.allAccounts()
        let isUserKnown = saved.identifier != nil || saved.userId != nil
        guard !isUserKnown, let only = accounts.first, accounts.count == 1 else { return nil }
        print("found \(only.username ?? "?"), the only account")
        return only
    }

    private func token(for account: MSALAccount?) async throws -> MSALResult {
        if let account {
            do {
                return try await application.acquireTokenSilent(
                    with: MSALSilentTokenParameters(scopes: options.scopes, account: account))
            } catch let error as NSError
                where error.domain == MSALErrorDomain && error.code == MSALError.interactionRequired.rawValue
            {
                print("the sign-in is no longer good")
            }
        }
        print("asking the user to sign in")
        let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
        return try await application.acquireToken(
            with: MSALInteractiveTokenParameters(scopes: options.scopes, webviewParameters: webview))
    }
}

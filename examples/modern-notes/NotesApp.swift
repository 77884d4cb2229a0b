import Foundation
import MSAL

/// The part of a notes app that knows who is signed in and gets them a token.
struct NotesApp {
    let options: Options
    private let application: MSALPublicClientApplication

    init(options: Options) throws {
        guard let url = URL(string: options.authority) else { throw URLError(.badURL) }
        let authority = try MSALAuthority(url: url)
        let config = MSALPublicClientApplicationConfig(
            clientId: options.clientID, redirectUri: "http://localhost", authority: authority)
        // An authority on this machine is a test's own, which no directory of known authorities lists.
        if ["localhost", "127.0.0.1", "::1"].contains(url.host ?? "") { config.knownAuthorities = [authority] }
        self.options = options
        application = try MSALPublicClientApplication(configuration: config)
    }

    /// Does what the command line says and returns the exit status.
    func run() async throws -> Int32 {
        switch options.action {
        case .list: list(try application.allAccounts())
        case .signOut: try signOut()
        case .signIn: report(try await signIn())
        case .getTokenSilently: report(try await silently(for: account()))
        case .getToken: report(try await getToken())
        }
        return 0
    }

    /// The usual way of an app: silently first; and a page only when the library says that nothing else helps.
    private func getToken() async throws -> MSALResult {
        guard let account = try? account() else { return try await signIn() }
        do {
            return try await silently(for: account)
        } catch let error as NSError where error.needsInteraction {
            return try await signIn()
        }
    }

    private func silently(for account: MSALAccount) async throws -> MSALResult {
        try await application.acquireTokenSilent(
            with: MSALSilentTokenParameters(scopes: options.scopes, account: account))
    }

    private func signIn() async throws -> MSALResult {
        let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
        let parameters = MSALInteractiveTokenParameters(scopes: options.scopes, webviewParameters: webview)
        parameters.loginHint = options.username
        return try await application.acquireToken(with: parameters)
    }

    private func signOut() throws {
        let account = try account()
        try application.remove(account)
        print("signed out: \(account.username ?? "unknown")")
    }

    /// The account the command line names, or the only one.
    private func account() throws -> MSALAccount {
        if let identifier = options.identifier { return try application.account(forIdentifier: identifier) }
        if let username = options.username { return try application.account(forUsername: username) }
        let accounts = try application.allAccounts()
        guard let only = accounts.first, accounts.count == 1 else { throw NoAccount(count: accounts.count) }
        return only
    }

    private func list(_ accounts: [MSALAccount]) {
        for account in accounts {
            print("\(account.username ?? "unknown") (\(account.identifier ?? "no identifier yet"))")
        }
        if accounts.isEmpty { print("nobody is signed in") }
    }

    private func report(_ result: MSALResult) {
        print("username: \(result.account.username ?? "unknown")")
        print("identifier: \(result.account.identifier ?? "unknown")")
        print("token for \(options.scopes.joined(separator: " ")) (\(result.accessToken.count) chars)")
    }
}

/// The command line names nobody, and there is not just one account to take.
struct NoAccount: Error {
    let count: Int
}

extension NSError {
    /// Whether only a sign-in page can help.
    var needsInteraction: Bool {
        domain == MSALErrorDomain && code == MSALError.interactionRequired.rawValue
    }
}

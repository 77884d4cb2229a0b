import Foundation
import MSAL

/// The part of a notes app that manages accounts and acquires tokens.
@MainActor struct NotesApp {
    let options: Options
    private let application: MSALPublicClientApplication

    init(options: Options) throws {
        guard let url = URL(string: options.authority) else { throw URLError(.badURL) }
        let authority = try MSALAuthority(url: url)
        let config = MSALPublicClientApplicationConfig(
            clientId: options.clientID, redirectUri: "http://localhost", authority: authority)
        // An authority on a loopback host belongs to a test, and is not among the known authorities.
        if ["localhost", "127.0.0.1", "::1"].contains(url.host ?? "") { config.knownAuthorities = [authority] }
        self.options = options
        application = try MSALPublicClientApplication(configuration: config)
    }

    /// Runs the action of the command line and returns the exit status.
    func run() async throws -> Int32 {
        switch options.action {
        case .list: list(try application.allAccounts())
        case .signOut: try signOut()
        case .signIn: report(try await signIn())
        case .acquireTokenSilently: report(try await acquireTokenSilently(for: account()))
        case .acquireToken: report(try await acquireToken())
        }
        return 0
    }

    /// Acquires a token as most apps do: silently, and by a sign-in only if the library requires one or the account is not known. With
    /// other errors, such as that of the network or of several accounts, a sign-in does not help.
    private func acquireToken() async throws -> MSALResult {
        do {
            return try await acquireTokenSilently(for: account())
        } catch let error as NoAccount where error.count == 0 {
            return try await signIn()
        } catch let error as NSError where error.needsInteraction || error.isOfUnknownAccount {
            return try await signIn()
        }
    }

    private func acquireTokenSilently(for account: MSALAccount) async throws -> MSALResult {
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

    /// Returns the account that the command line names, or the only one.
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

/// The command line names no account, and the number of accounts is not 1.
struct NoAccount: Error {
    let count: Int
}

extension NSError {
    /// Whether a sign-in is required.
    var needsInteraction: Bool {
        domain == MSALErrorDomain && code == MSALError.interactionRequired.rawValue
    }

    /// Whether there is no account of the requested identifier or name: the error of Swift for a method in Objective-C that has returned
    /// nil without an error.
    var isOfUnknownAccount: Bool { domain == "Foundation._GenericObjCError" && code == 0 }
}

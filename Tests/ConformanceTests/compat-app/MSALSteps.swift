internal import CompatReport
internal import Foundation
internal import MSAL

/// The steps of an MSAL app.
@MainActor struct MSALSteps {
    private let application: MSALPublicClientApplication
    private let scope: String

    init(_ options: Options) throws {
        guard let url = URL(string: options.authority) else { throw URLError(.badURL) }
        let authority = try MSALAuthority(url: url)
        let config = MSALPublicClientApplicationConfig(
            clientId: options.clientID, redirectUri: "http://localhost", authority: authority)
        config.knownAuthorities = [authority]
        application = try MSALPublicClientApplication(configuration: config)
        scope = options.scope
    }

    func take(_ step: Options.Step) async throws -> Report {
        switch step {
        case .signIn(let name): report(try await signIn(name))
        case .silent(let who): report(try await silent(who))
        case .accounts: report(try application.allAccounts())
        case .remove(let who): try remove(who)
        }
    }

    private func signIn(_ name: String) async throws -> MSALResult {
        let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
        let parameters = MSALInteractiveTokenParameters(scopes: [scope], webviewParameters: webview)
        parameters.loginHint = name
        return try await application.acquireToken(with: parameters)
    }

    private func silent(_ who: String) async throws -> MSALResult {
        try await application.acquireTokenSilent(
            with: MSALSilentTokenParameters(scopes: [scope], account: account(who)))
    }

    private func remove(_ who: String) throws -> Report {
        let account = try account(who)
        try application.remove(account)
        return report(account)
    }

    private func account(_ who: String) throws -> MSALAccount {
        if let account = try? application.account(forIdentifier: who) { return account }
        if let account = try? application.account(forUsername: who) { return account }
        // The app has stored the account object before the sign-out.
        let parameters = MSALAccountEnumerationParameters(identifier: who)
        parameters.returnOnlySignedInAccounts = false
        guard let account = try application.accounts(for: parameters).first else { throw CocoaError(.fileNoSuchFile) }
        return account
    }

    private func report(_ result: MSALResult) -> Report {
        var report = report(result.account)
        report.token = result.accessToken
        report.scopes = result.scopes
        report.authority = result.authority.url.absoluteString
        report.tenant = result.tenantProfile.tenantId
        return report
    }

    private func report(_ account: MSALAccount) -> Report {
        var report = Report()
        report.username = account.username
        report.identifier = account.identifier
        report.tenants = account.tenantProfiles?.compactMap(\.tenantId)
        return report
    }

    private func report(_ accounts: [MSALAccount]) -> Report {
        var report = Report()
        report.accounts = accounts.map { self.report($0) }
        return report
    }
}

internal import AgentClient
internal import CompatSupport
internal import Foundation
internal import TokenModel

/// A sign-out as a value: the request, the account for external account providers, and the sign-out page.
///
/// Unchecked because of `account`, whose properties are constants; all else is Sendable.
struct Signout: @unchecked Sendable {
    let request: RemoveAccount
    let account: MSALAccount
    let wipesAccount: Bool
    /// The URL of the sign-out page; nil if the browser's session is to stay.
    let page: String?
}

/// The operations of a sign-out.
extension AppSession {
    /// Creates the description of a sign-out.
    ///
    /// - Throws: -50000 with -42000 if the account has neither identifier nor username, or if the sign-out page is to
    ///   be opened and the parameters were created without webview parameters.
    func signout(_ account: MSALAccount, _ parameters: MSALSignoutParameters) throws(NSError) -> Signout {
        try CallLog.refusals(of: Self.signoutName) { () throws(NSError) in try description(of: account, parameters) }
    }

    /// The name of a sign-out in the log.
    private static let signoutName = "signout"

    private func description(
        of account: MSALAccount, _ parameters: MSALSignoutParameters
    ) throws(NSError) -> Signout {
        guard !parameters.signoutFromBrowser || parameters.hasWebviewParameters else {
            throw MSALError.error(
                .internalErrorInvalidParameter,
                "signoutFromBrowser needs webview parameters; use MSALSignoutParameters(webviewParameters:)")
        }
        let extent: RemoveAccount.Extent =
            switch (parameters.wipeCacheForAllAccounts, parameters.wipeAccount) {
            case (true, _): .everything
            case (_, true): .account
            default: .app
            }
        return Signout(
            request: try settings.removal(of: account, extent: extent), account: account,
            wipesAccount: parameters.wipeAccount,
            page: parameters.signoutFromBrowser ? signoutPage(parameters.extraQueryParameters ?? [:]) : nil)
    }

    /// Removes the account, notifies external account providers, and opens the sign-out page; returns true.
    ///
    /// - Throws: `CancellationError` if the calling task is cancelled, else an error of MSAL or of a provider.
    func perform(_ signout: Signout) async throws -> Bool {
        if let serializedCache { await runBlockingAppCode { serializedCache.announceWillWrite() } }
        let outcome = await remove(signout.request)
        if let serializedCache { await runBlockingAppCode { serializedCache.announceDidWrite() } }
        try outcome.get()
        guard !externalAccounts.isEmpty else { return try conclude(signout, notified: .success(())) }
        let notified = await runBlockingAppCode { notifyProviders(of: signout) }
        return try conclude(signout, notified: notified)
    }

    /// The blocking form of `perform(_:)`.
    func performAndWait(_ signout: Signout) throws -> Bool {
        try removeAndWait(signout.request, Self.signoutName)
        return try conclude(signout, notified: notifyProviders(of: signout))
    }

    private func remove(_ request: RemoveAccount) async -> Result<Void, any Error> {
        do throws(TokenError) {
            _ = try await client.removeAccount(request)
            CallLog.removed(Self.signoutName)
            return .success(())
        } catch {
            CallLog.failed(Self.signoutName, error.code)
            return .failure(MSALError.asyncError(for: error))
        }
    }

    /// Notifies the external account providers. Blocks as long as they do.
    private func notifyProviders(of signout: Signout) -> Result<Void, any Error> {
        Result { try externalAccounts.remove(signout.account, wipeAccount: signout.wipesAccount) }
    }

    /// Opens the page, also if a provider has failed.
    private func conclude(_ signout: Signout, notified: Result<Void, any Error>) throws -> Bool {
        if let page = signout.page { try open(page) }
        try notified.get()
        return true
    }

    /// The URL of the sign-out page, whose path is the same for every kind of authority that MSAL supports.
    ///
    /// Without the `post_logout_redirect_uri` of MSAL, whose web view closes at it: a browser would show that nothing answers there.
    private func signoutPage(_ extraParameters: [String: String]) -> String {
        guard var components = URLComponents(string: "\(settings.authority.url)/oauth2/v2.0/logout") else {
            return settings.authority.url
        }
        if !extraParameters.isEmpty {
            components.queryItems = extraParameters.sorted { $0.key < $1.key }.map(URLQueryItem.init)
            // `URLComponents` leaves a plus sign as it is, which means a space in a query.
            components.percentEncodedQuery = components.percentEncodedQuery?.replacing("+", with: "%2B")
        }
        return components.string ?? settings.authority.url
    }

    private func open(_ page: String) throws(NSError) {
        do throws(TokenError) {
            try Browser(commands: presenter.browserCommands).open(page) { _ in
                MSALGlobalConfig.loggerConfig.log(.warning, "the browser failed to open the sign-out page")
            }
        } catch {
            CallLog.failed(Self.signoutName, error.code)
            throw MSALError.error(for: error)
        }
    }
}

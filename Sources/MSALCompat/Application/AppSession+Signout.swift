internal import AgentClient
internal import Foundation
internal import TokenModel

extension AppSession {
    /// - Throws: -50000 with -42000 when the account has neither identifier nor name, or when the browser's session is to end
    ///   and the parameters were made without webview parameters.
    func signout(_ account: MSALAccount, _ parameters: MSALSignoutParameters) throws(NSError) -> Signout {
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

    /// Removes, tells external account providers, then opens the page; true when all went well.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's or of a provider.
    func perform(_ signout: Signout) async throws -> Bool {
        do throws(TokenError) {
            _ = try await client.removeAccount(signout.request)
        } catch {
            throw MSALError.asyncError(for: error)
        }
        await serializedCache?.tell { $0.announceWrite() }
        return try conclude(signout)
    }

    /// The same, blocking the calling thread.
    func performAndWait(_ signout: Signout) throws -> Bool {
        do throws(TokenError) {
            _ = try client.removeAccountAndWait(signout.request)
        } catch {
            throw MSALError.error(for: error)
        }
        serializedCache?.announceWrite()
        return try conclude(signout)
    }

    private func conclude(_ signout: Signout) throws -> Bool {
        try externalAccounts.remove(signout.account, wipeAccount: signout.wipesAccount)
        if let page = signout.page { try open(page) }
        return true
    }

    /// The page that ends the browser's session, at the same place for every kind of authority that MSAL supports.
    private func signoutPage(_ extraParameters: [String: String]) -> String {
        var components = URLComponents(string: "\(settings.authority.url)/oauth2/v2.0/logout")
        if !extraParameters.isEmpty {
            components?.queryItems = extraParameters.sorted { $0.key < $1.key }.map(URLQueryItem.init)
        }
        return components?.string ?? settings.authority.url
    }

    private func open(_ page: String) throws(NSError) {
        do throws(TokenError) {
            try Browser(commands: presenter.browserCommands).open(page) { _ in
                MSALGlobalConfig.loggerConfig.log(.warning, "the browser failed to open the sign-out page")
            }
        } catch {
            throw MSALError.error(for: error)
        }
    }
}

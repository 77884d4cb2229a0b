public import TokenModel

extension AgentClient {
    /// A whole interactive sign-in: opens the page, waits for the person, returns the token.
    ///
    /// Cancelling the calling task cancels the sign-in. Where the app's redirect URI cannot be used on this system, the presenter
    /// shows what to register instead: an identity provider that does not know the replacement shows an error page and redirects
    /// the browser nowhere.
    ///
    /// - Throws: `userCanceled` (-51700) or `sessionCanceled` (-51701) when it was given up, `accessDenied` (-51416),
    ///   `mismatchedAccount` (-51117), `authorizationFailed` (-51440) when no browser could be opened, `timedOut` (-53006) when
    ///   no response arrived in time; the message names the redirect URI and what to register.
    public func signIn(
        _ request: BeginInteractive, presenter: SignInPresenter = SignInPresenter()
    ) async throws(TokenError) -> TokenResult {
        switch presenter.way {
        case .deviceCode: try await signInByCode(request, presenter)
        case .automatic where presenter.browserCommands.isEmpty: try await signInByCode(request, presenter)
        case .automatic, .browser: try await signInByBrowser(request, presenter)
        }
    }

    private func signInByBrowser(
        _ request: BeginInteractive, _ presenter: SignInPresenter
    ) async throws(TokenError) -> TokenResult {
        let begun = try await beginInteractive(request)
        let redirect = BrowserRedirect(request.parameters.redirectURI)
        if redirect.replaced != nil { presenter.showNotice(redirect.notice) }
        do throws(TokenError) {
            // A browser that fails ends the wait at once, instead of leaving the person before nothing.
            let browser = Browser(commands: presenter.browserCommands)
            try browser.open(begun.authorizationURL) { reason in
                Task { try? await self.cancelInteraction(CancelInteraction(sessionID: begun.sessionID)) }
                StandardError.write("\(reason)\n")
            }
            return try await completeInteractive(
                CompleteInteractive(sessionID: begun.sessionID), limit: .seconds(begun.expiresIn + 60))
        } catch {
            await giveUp(begun.sessionID)
            throw error
        }
    }

    private func signInByCode(
        _ request: BeginInteractive, _ presenter: SignInPresenter
    ) async throws(TokenError) -> TokenResult {
        var parameters = request.parameters
        // An AD FS is validated by its user's name, which a device code says nothing of.
        if parameters.authority.kind == .adfs { parameters.extraParameters["login_hint"] = request.loginHint }
        let begun = try await beginDeviceCode(BeginDeviceCode(parameters: parameters, account: request.account))
        presenter.showDeviceCode(begun)
        do throws(TokenError) {
            return try await completeDeviceCode(
                CompleteDeviceCode(sessionID: begun.sessionID), limit: .seconds(begun.expiresIn + 60))
        } catch {
            await giveUp(begun.sessionID)
            throw error
        }
    }

    /// Frees the agent's listener; runs on a task of its own because the caller's may be cancelled already.
    private func giveUp(_ sessionID: String) async {
        await Task { try? await cancelInteraction(CancelInteraction(sessionID: sessionID)) }.value
    }
}

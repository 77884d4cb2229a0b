internal import AgentSocket
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

/// How a person is shown the way to sign in.
public struct SignInPresenter: Sendable {
    /// Which way to try.
    public enum Way: Sendable {
        /// A browser where there is one, else a code to type on another device.
        case automatic
        /// A browser only.
        case browser
        /// A code to type on another device.
        case deviceCode
    }

    /// Which way to try.
    public var way: Way
    /// The commands to open a page with, best first; `%s` stands for the URL, which is appended where there is none.
    public var browserCommands: [String]
    /// Shows the device code's message to the person; called once, before the wait.
    public var showDeviceCode: @Sendable (BeginDeviceCode.Reply) -> Void
    /// Shows a message for the developers of the app: that its redirect URI cannot be used on this system, and what to register
    /// instead. Called before the browser is opened.
    public var showNotice: @Sendable (String) -> Void

    /// A presenter.
    ///
    /// - Parameters:
    ///   - way: which way to try.
    ///   - browserCommands: nil takes `$BROWSER`, else the desktop's own opener where there is a display.
    ///   - showDeviceCode: nil writes the message to standard error.
    ///   - showNotice: nil writes the text to standard error.
    public init(
        way: Way = .automatic, browserCommands: [String]? = nil,
        showDeviceCode: (@Sendable (BeginDeviceCode.Reply) -> Void)? = nil,
        showNotice: (@Sendable (String) -> Void)? = nil
    ) {
        self.way = way
        self.browserCommands = browserCommands ?? AgentEnvironment.current.browserCommands
        self.showDeviceCode = showDeviceCode ?? { StandardError.write($0.message + "\n") }
        self.showNotice = showNotice ?? { StandardError.write($0 + "\n") }
    }
}

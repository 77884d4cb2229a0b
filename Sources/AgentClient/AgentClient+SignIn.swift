internal import AgentSocket
internal import PosixFiles
public import TokenModel

extension AgentClient {
    /// Signs a user in: starts the sign-in, opens its page or shows its device code, and returns the token.
    ///
    /// Cancelling the calling task cancels the sign-in; tokens that are being requested already are saved nevertheless. If the app's
    /// redirect URI cannot be used on this system, the presenter shows which one to register: an identity provider that does not know the
    /// replacement shows an error page and does not redirect.
    ///
    /// - Throws: `cancelled` (-53007) if the calling task is cancelled, `sessionCanceled` (-51701) if the sign-in was cancelled
    ///   otherwise, `accessDenied` (-51416) if the user declines, `mismatchedAccount` (-51117) if another account than the requested one
    ///   signs in, `authorizationFailed` (-51440) if no browser could be opened or the browser has failed, `timedOut` (-53006) if the code
    ///   has expired, or no response of the browser arrived in time: the message then names the redirect URI to register.
    ///   `agentUnavailable` (-53004) also if the connection has closed, with which the sign-in ends. Else as the methods for its two steps:
    ///   `beginInteractive(_:)` and `completeInteractive(_:limit:)`, or `beginDeviceCode(_:)` and `completeDeviceCode(_:limit:)`.
    public func signIn(
        _ request: BeginInteractive, presenter: SignInPresenter = SignInPresenter()
    ) async throws(TokenError) -> TokenResult {
        switch presenter.method {
        case .deviceCode: try await signInByCode(request, presenter)
        case .automatic where presenter.browserCommands.isEmpty && !request.asksNobody:
            try await signInByCode(request, presenter)
        case .automatic, .browser: try await signInByBrowser(request, presenter)
        }
    }

    private func signInByBrowser(
        _ request: BeginInteractive, _ presenter: SignInPresenter
    ) async throws(TokenError) -> TokenResult {
        let begun = try await beginInteractive(request)
        let number = connection.number
        do throws(TokenError) {
            if Task.isCancelled { throw AgentConnection.cancelled }
            let redirect = BrowserRedirect(request.parameters.redirectURI)
            if redirect.replaced != nil { presenter.showNotice(redirect.notice) }
            // A browser that fails cancels the sign-in, because no page is shown in which the user could end it.
            let browser = Browser(commands: presenter.browserCommands)
            // Other users can read the browser's arguments. An agent without launch URLs is of an earlier version.
            let waiting = BrowserWait()
            defer { waiting.end() }
            try browser.open(begun.launchURL ?? begun.authorizationURL) { [weak self] reason in
                guard let self, waiting.fail(reason) else { return }
                Task { await self.cancelSignIn(begun.sessionID) }
            }
            do throws(TokenError) {
                return try await completeInteractive(
                    CompleteInteractive(sessionID: begun.sessionID), limit: .seconds(begun.expiresIn + 60))
            } catch {
                // The user has not cancelled anything, and apps show nothing if the user has.
                guard let reason = waiting.reason(for: error), !Task.isCancelled else { throw error }
                throw TokenError(.authorizationFailed, reason, reason: .request)
            }
        } catch {
            throw await ended(begun.sessionID, on: number, with: error)
        }
    }

    private func signInByCode(
        _ request: BeginInteractive, _ presenter: SignInPresenter
    ) async throws(TokenError) -> TokenResult {
        var parameters = request.parameters
        // An AD FS is validated by the domain of its user's name, for which a device code request has no field.
        if parameters.authority.kind == .adfs, let hint = request.loginHint {
            parameters.extraParameters["login_hint"] = hint
        }
        let begun = try await beginDeviceCode(BeginDeviceCode(parameters: parameters, account: request.account))
        let number = connection.number
        do throws(TokenError) {
            if Task.isCancelled { throw AgentConnection.cancelled }
            presenter.showDeviceCode(begun)
            return try await completeDeviceCode(
                CompleteDeviceCode(sessionID: begun.sessionID), limit: .seconds(begun.expiresIn + 60))
        } catch {
            throw await ended(begun.sessionID, on: number, with: error)
        }
    }

    /// Returns the error of a sign-in that has failed, and cancels it at the agent.
    ///
    /// - Parameter number: that of the connection on which the sign-in was begun.
    private func ended(_ sessionID: String, on number: UInt64, with error: TokenError) async -> TokenError {
        // On a later connection the agent knows no such sign-in. Nobody has cancelled it, and apps show nothing if the user has.
        if error.code == .sessionCanceled, connection.number != number { return AgentConnection.lostSignIn }
        await cancelSignIn(sessionID, after: error)
        return error
    }

    /// Cancels a sign-in that has failed, unless the agent is gone: the sign-in has ended with its connection, and an agent that its user
    /// has stopped must not be started again for that.
    package func cancelSignIn(_ sessionID: String, after error: any Error) async {
        if (error as? TokenError)?.code != .agentUnavailable { await cancelSignIn(sessionID) }
    }

    /// Cancels the sign-in at the agent, which frees its listener. In a task of its own, because the caller's may be
    /// cancelled; an agent that does not answer is not waited for.
    ///
    /// - Returns: false if the agent has not answered, or refuses the request.
    @discardableResult
    package func cancelSignIn(_ sessionID: String) async -> Bool {
        await Task { (try? await call(CancelInteraction(sessionID: sessionID), timeout: .seconds(2))) != nil }.value
    }
}

/// How the user is shown the sign-in page or the device code.
public struct SignInPresenter: Sendable {
    /// The methods of signing in.
    @nonexhaustive public enum Method: Sendable {
        /// A browser if a command to open one is known, else a device code. Always a browser if the request's prompt is `none`, with which
        /// nobody is asked anything.
        case automatic
        /// A browser only.
        case browser
        /// A device code, which the user types on another device (RFC 8628).
        case deviceCode
    }

    /// The method of signing in.
    public var method: Method
    /// The commands that open a page, in order of preference. Blanks separate the words of a command, and no shell is involved. `%s` stands
    /// for the URL, which is appended to a command without `%s`.
    public var browserCommands: [String]
    /// Shows the message with the device code to the user. Called once, in the task that signs in; the wait for the sign-in begins when it
    /// returns.
    public var showDeviceCode: @Sendable (BeginDeviceCode.Reply) -> Void
    /// Shows a message to the developers of the app, if its redirect URI cannot be used on this system: which one to register. Called in
    /// the task that signs in, before the browser is opened.
    public var showNotice: @Sendable (String) -> Void

    /// Creates a presenter.
    ///
    /// - Parameters:
    ///   - method: the method of signing in.
    ///   - browserCommands: nil takes `$BROWSER`, else the command of the desktop if there is a display.
    ///   - showDeviceCode: nil writes the message to standard error.
    ///   - showNotice: nil writes the message to standard error.
    public init(
        method: Method = .automatic, browserCommands: [String]? = nil,
        showDeviceCode: (@Sendable (BeginDeviceCode.Reply) -> Void)? = nil,
        showNotice: (@Sendable (String) -> Void)? = nil
    ) {
        self.method = method
        self.browserCommands = browserCommands ?? AgentEnvironment.current.browserCommands
        self.showDeviceCode = showDeviceCode ?? { StandardStream.error.writeWithoutSignal($0.message + "\n") }
        self.showNotice = showNotice ?? { StandardStream.error.writeWithoutSignal($0 + "\n") }
    }
}

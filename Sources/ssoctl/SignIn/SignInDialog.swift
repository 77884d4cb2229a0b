internal import AgentClient
internal import AgentSocket
internal import PosixFiles
internal import Synchronization
internal import TokenModel

/// A sign-in on the command line: shows the page or the code on standard error, starts a browser, and waits.
struct SignInDialog: Sendable {
    /// The methods of signing in.
    enum Method: Sendable {
        /// A browser if there is one that starts, else a code.
        case automatic
        /// A browser only.
        case browser
        /// A code for another device.
        case deviceCode
        /// A browser that the user opens.
        case printedURL
    }

    let agent: AgentClient
    let request: BeginInteractive
    let method: Method
    /// What the user signs in to, in messages.
    let appText: String

    /// Signs in. Cancelling the task cancels the sign-in, unless the agent has the response of the provider already.
    func run() async throws -> TokenResult {
        let commands = SignInPresenter().browserCommands
        switch method {
        case .deviceCode: return try await byCode()
        case .automatic where commands.isEmpty && !request.asksNobody: return try await byCode()
        case .printedURL: return try await byBrowser(nil)
        case .automatic, .browser:
            do {
                return try await byBrowser(commands)
            } catch let failure as BrowserFailure {
                // Without a terminal, the user would not see the code, and a script would wait until it expires.
                guard method == .automatic, !request.asksNobody, Terminal.showsMessages else { throw failure.error }
                Terminal.printError("\(failure.error.message); signing in with a code instead")
                return try await byCode()
            }
        }
    }

    // MARK: A browser

    /// The browser could not be started, or has failed.
    private struct BrowserFailure: Error {
        var error: TokenError
    }

    /// - Parameter commands: the commands that open a page; nil leaves that to the user.
    private func byBrowser(_ commands: [String]?) async throws -> TokenResult {
        let begun = try await TickingLine.during { try await agent.beginInteractive(request) }
        do {
            let redirect = BrowserRedirect(request.parameters.redirectURI)
            if redirect.replaced != nil { Terminal.printError(redirect.notice) }
            // Other users can read the arguments of the browser, and a terminal may be recorded: the page has the sign-in's `state`,
            // this URL does not.
            let url = begun.launchURL ?? begun.authorizationURL
            let waiting = BrowserWait()
            defer { waiting.end() }
            let browser = try commands.map { commands in try start(commands, url, begun.sessionID, waiting) }
            show(url, openedBy: browser)
            let line = TickingLine()
            line.countDown("Waiting for the sign-in", from: begun.expiresIn)
            defer { line.end() }
            do throws(TokenError) {
                return try await answer(cancelling: { begun.sessionID }, line) { () throws(TokenError) in
                    try await agent.completeInteractive(
                        CompleteInteractive(sessionID: begun.sessionID), limit: .seconds(begun.expiresIn + 60))
                }
            } catch {
                guard let reason = waiting.reason(for: error) else { throw error }
                throw BrowserFailure(error: TokenError(.authorizationFailed, reason, reason: .request))
            }
        } catch {
            await agent.cancelSignIn(begun.sessionID, after: error)
            throw error
        }
    }

    /// Starts a browser, and returns its name.
    private func start(
        _ commands: [String], _ url: String, _ sessionID: String, _ waiting: BrowserWait
    ) throws(BrowserFailure) -> String {
        do throws(TokenError) {
            return try Browser(commands: commands).open(url) { reason in
                // The page is not shown, so that the user cannot end the sign-in there.
                guard waiting.fail(reason) else { return }
                Task { await agent.cancelSignIn(sessionID) }
            }
        } catch {
            throw BrowserFailure(error: error)
        }
    }

    private func show(_ url: String, openedBy browser: String?) {
        let text: StyledText =
            if let browser {
                "Complete the sign-in to \(appText) in your browser (started: \(browser)).\nIf it shows nothing, open this page:\n\n  "
            } else {
                "Sign in to \(appText): open this page in a browser on this machine:\n\n  "
            }
        Terminal.writeError(text + .link(url) + "\n\n")
        guard browser == nil, AgentEnvironment.value("SSH_CONNECTION") != nil,
            let port = try? URLParts(url).environment.split(separator: ":").last
        else { return }
        Terminal.printError(
            "From the machine of your browser, forward the port first: ssh -L \(port):localhost:\(port) …, or use --device-code.\n"
        )
    }

    // MARK: A code

    private func byCode() async throws -> TokenResult {
        let unused = [request.prompt.map { _ in "--prompt" }, request.domainHint.map { _ in "--domain-hint" }]
            .compactMap(\.self)
        if !unused.isEmpty {
            let verb = unused.count == 1 ? "has" : "have"
            Terminal.printError("\(unused.joined(separator: " and ")) \(verb) no effect on a sign-in with a code")
        }
        let line = TickingLine()
        defer { line.end() }
        line.waitForAgent()
        let begun = BegunSignIn()
        let presenter = SignInPresenter(
            method: .deviceCode,
            showDeviceCode: { code in
                begun.sessionID.withLock { $0 = code.sessionID }
                line.end()
                show(code)
                line.countDown("Waiting for the sign-in", from: code.expiresIn)
            })
        return try await answer(cancelling: { begun.sessionID.withLock(\.self) }, line) { () throws(TokenError) in
            try await agent.signIn(request, presenter: presenter)
        }
    }

    /// The sign-in whose code is shown.
    private final class BegunSignIn: Sendable {
        let sessionID = Mutex<String?>(nil)
    }

    private func show(_ code: BeginDeviceCode.Reply) {
        // Another device does not reach an emulator on this machine.
        let isHere = (try? URLParts(code.verificationURL))?.isLoopback == true
        let place = isHere ? "in a browser on this machine" : "on any device"
        var text: StyledText = "Sign in to \(appText): open this page \(place):\n\n  "
        text += .link(code.verificationURL)
        if Terminal.showsMessages, let drawing = QRCode.drawing(of: code.verificationURL) {
            text += StyledText("\n\n\(drawing)").fixed
        }
        text += "\n\nand enter the code:\n\n    "
        text += .bold(TerminalText.line(code.userCode)) + "\n\n"
        Terminal.writeError(text)
    }

    // MARK: The answer

    /// Returns the agent's answer to a call that waits for a sign-in. If the task is cancelled, the sign-in is cancelled at the agent, and
    /// the call goes on: tokens that are being requested already are saved, and only the answer says so.
    ///
    /// - Parameters:
    ///   - sessionID: returns the sign-in's ID; nil if it has not begun. Then the call is cancelled, as with an agent that does not answer the
    ///     cancellation.
    ///   - line: says what is waited for.
    private func answer(
        cancelling sessionID: @escaping @Sendable () -> String?, _ line: TickingLine,
        _ call: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        // Unstructured on purpose: the cancellation of the caller's task must not end it.
        let task = Task { () async -> Result<TokenResult, TokenError> in
            do throws(TokenError) {
                return .success(try await call())
            } catch {
                return .failure(error)
            }
        }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            line.waitForLastResponse()
            Task {
                guard let id = sessionID(), await agent.cancelSignIn(id) else { return task.cancel() }
            }
        }
        return try result.get()
    }
}

/// Draws QR codes with the program `qrencode`, if it is installed.
private enum QRCode {
    /// The lines of a QR code with a URL; nil if there is no program to draw it, or the URL is too long for a terminal.
    static func drawing(of url: String) -> String? {
        guard url.utf8.count <= longestURL, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return Program.output(of: ["qrencode", "--type=UTF8", "--margin=2", "--output=-", "--", url])
            .flatMap { $0.contains("█") ? $0 : nil }
    }

    private static let longestURL = 200
}

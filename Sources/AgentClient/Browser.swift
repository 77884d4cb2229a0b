internal import CAgentSystem
internal import PosixFiles
internal import Synchronization
package import TokenModel

/// Opens a web page with the first command that can be started; no shell is involved.
package struct Browser {
    package var commands: [String]

    package init(commands: [String]) {
        self.commands = commands
    }

    /// Starts the browser, and returns the name of its program.
    ///
    /// - Parameter onFailure: called once, from another thread, if the browser ends with a status other than 0; its
    ///   argument is a message. Not called if the app itself collects the status of all its child processes.
    /// - Throws: `authorizationFailed` (-51440) if the URL is not that of a web page, or no command can be started.
    @discardableResult
    package func open(_ url: String, onFailure: @escaping @Sendable (String) -> Void) throws(TokenError) -> String {
        guard Self.isWebPage(url) else {
            throw TokenError(.authorizationFailed, "the address of the sign-in is not that of a web page")
        }
        for command in commands {
            let words = Self.words(of: command, url: url)
            guard let program = words.first else { continue }
            let isRunning = ChildProcess.start(words) { status in
                if let failure = Self.failure(of: program, status: status) { onFailure(failure) }
            }
            if isRunning { return program }
        }
        let tried =
            commands.isEmpty
            ? "there is no display, and BROWSER is not set" : "tried: \(commands.joined(separator: ", "))"
        throw TokenError(.authorizationFailed, "no browser could be started (\(tried))", reason: .request)
    }

    /// Whether a URL is that of a web page. A program might take anything else for an option, for a file, or for several words.
    package static func isWebPage(_ url: String) -> Bool {
        ["https://", "http://"].contains(where: url.hasPrefix) && url.isGraphicASCII
    }

    /// The message about a browser that ended with a status; nil if it may have shown the page.
    static func failure(of program: String, status: Int32) -> String? {
        status == 0 || status == ChildProcess.unknownStatus
            ? nil : "the browser “\(program)” ended with status \(status)"
    }

    /// The words of the command with the URL in place of `%s`, or else at the end.
    static func words(of command: String, url: String) -> [String] {
        let words = command.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.contains(where: { $0.contains("%s") }) else { return words + [url] }
        return words.map { $0.replacing("%s", with: url) }
    }
}

/// The wait for a sign-in in a browser, which ends early if the browser fails.
package final class BrowserWait: Sendable {
    private enum State {
        case waiting
        case failed(String)
        case ended
    }

    private let state = Mutex(State.waiting)

    package init() {}

    /// Why the browser has failed, if that has cancelled the sign-in; nil for any other error of it, which the response of the browser led
    /// to.
    package func reason(for error: TokenError) -> String? {
        guard error.code == .sessionCanceled else { return nil }
        return state.withLock { if case .failed(let reason) = $0 { reason } else { nil } }
    }

    /// Notes that the browser has failed, and returns whether the sign-in was still waited for.
    package func fail(_ reason: String) -> Bool {
        state.withLock { state in
            guard case .waiting = state else { return false }
            state = .failed(reason)
            return true
        }
    }

    /// Notes that the sign-in is not waited for any more. A browser may end long after it, when its failure does not matter.
    package func end() { state.withLock { $0 = .ended } }
}

/// Starts programs, and waits for their ends on another thread.
enum ChildProcess {
    /// Starts a program found on `PATH`, as `ChildProgram.startApart(_:)` says.
    ///
    /// - Parameter onExit: called once, from another thread, with the exit status, with 128 plus the number of the
    ///   signal that ended the program, or with `unknownStatus`. Not called if no thread can be created.
    /// - Returns: false if the program cannot be started.
    static func start(_ words: [String], onExit: @escaping @Sendable (Int32) -> Void) -> Bool {
        guard let child = ChildProgram.startApart(words) else { return false }
        _ = BackgroundThread.start { onExit(agent_wait(child)) }
        return true
    }

    /// The status of a program whose exit status is not known, because the app itself waits for any child process, or ignores
    /// SIGCHLD.
    static let unknownStatus: Int32 = -1
}

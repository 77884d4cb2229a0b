internal import AgentSocket
internal import CAgentSystem
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Opens a web page with the first command that can be run; no shell is involved.
package struct Browser {
    package var commands: [String]

    package init(commands: [String]) {
        self.commands = commands
    }

    /// Starts the browser and returns; `onFailure` is told, later, when it ends with a status other than 0.
    ///
    /// - Throws: `authorizationFailed` (-51440) when no command can be run.
    package func open(_ url: String, onFailure: @escaping @Sendable (String) -> Void) throws(TokenError) {
        for command in commands {
            let words = Self.words(of: command, url: url)
            guard let program = words.first else { continue }
            let isRunning = ChildProcess.start(words) { status in
                if status != 0 { onFailure("\(program) ended with status \(status); the sign-in was given up") }
            }
            if isRunning { return }
        }
        let tried = commands.isEmpty ? "there is no display" : "tried: \(commands.joined(separator: ", "))"
        throw TokenError(
            .authorizationFailed, "no browser could be opened (\(tried)); set BROWSER, or sign in with a device code")
    }

    /// The command's words with the URL in the place of `%s`, or at the end.
    static func words(of command: String, url: String) -> [String] {
        let words = command.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.contains(where: { $0.contains("%s") }) else { return words + [url] }
        return words.map { $0.replacing("%s", with: url) }
    }
}

/// What is meant for the person at the terminal, and not for a pipe.
enum StandardError {
    static func write(_ text: String) { StandardStream.error.write(text) }
}

/// A program started beside the app.
///
/// It gets a clean slate of signals: threads of Swift's pool block them all, and a browser that inherited that could not be
/// told to quit. Nor does it get the app's open files: what the app closes has to be closed, not held by a browser for days.
enum ChildProcess {
    /// Starts a program found on `PATH`; its standard input and output lead nowhere.
    ///
    /// - Parameter onExit: is told its exit status, or 128 and the number of the signal that ended it, from a thread of
    ///   its own.
    /// - Returns: false when it cannot be started.
    static func start(_ words: [String], onExit: @escaping @Sendable (Int32) -> Void) -> Bool {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        guard agent_spawn(&arguments, -1, &child) == 0 else { return false }
        BackgroundThread.start { [child] in onExit(agent_wait(child)) }
        return true
    }
}

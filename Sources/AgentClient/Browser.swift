internal import PosixFiles
package import TokenModel

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

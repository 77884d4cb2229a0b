internal import Foundation
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
            guard let program = words.first, let path = Self.find(program) else { continue }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = Array(words.dropFirst())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.terminationHandler = { ended in
                if ended.terminationStatus != 0 {
                    onFailure("\(program) ended with status \(ended.terminationStatus); the sign-in was given up")
                }
            }
            if (try? process.run()) != nil { return }
        }
        let tried = commands.isEmpty ? "there is no display" : "tried: \(commands.joined(separator: ", "))"
        throw TokenError(
            .authorizationFailed, "no browser could be opened (\(tried)); set BROWSER, or sign in with a device code")
    }

    /// The command's words with the URL in the place of `%s`, or at the end.
    static func words(of command: String, url: String) -> [String] {
        let words = command.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.contains(where: { $0.contains("%s") }) else { return words + [url] }
        return words.map { $0.replacingOccurrences(of: "%s", with: url) }
    }

    private static func find(_ program: String) -> String? {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) ? program : nil }
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.lazy.map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// What is meant for the person at the terminal, and not for a pipe.
enum StandardError {
    static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

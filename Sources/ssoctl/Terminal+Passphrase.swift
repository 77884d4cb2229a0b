internal import Foundation
internal import TokenModel

extension Terminal {
    /// A line that nobody sees: from the terminal, or from standard input where that is something else.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) when there is none.
    static func passphrase(_ prompt: String) throws(TokenError) -> Secret {
        let isPerson = isatty(STDIN_FILENO) == 1
        var before = termios()
        if isPerson {
            FileHandle.standardError.write(Data(prompt.utf8))
            tcgetattr(STDIN_FILENO, &before)
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        defer {
            if isPerson {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
                printError("")
            }
        }
        guard let line = line(), !line.isEmpty else {
            throw TokenError(.invalidDeveloperParameter, "no passphrase was given")
        }
        return line
    }

    /// The same for a new one: a person types it twice.
    static func newPassphrase() throws(TokenError) -> Secret {
        let first = try passphrase("New passphrase: ")
        guard isatty(STDIN_FILENO) == 1 else { return first }
        guard try passphrase("Again: ") == first else {
            throw TokenError(.invalidDeveloperParameter, "the two passphrases differ")
        }
        return first
    }

    /// Up to the end of the line, byte by byte, so that no more is taken than it needs.
    private static func line() -> Secret? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        var count = 0
        while count < bytes.count, read(STDIN_FILENO, &bytes[count], 1) == 1, bytes[count] != UInt8(ascii: "\n") {
            count += 1
        }
        return Secret(bytes: bytes[..<count])
    }
}

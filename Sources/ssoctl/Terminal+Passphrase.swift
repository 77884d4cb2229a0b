internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Terminal {
    /// A line that nobody sees: from the terminal, or from standard input where that is something else.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) when there is none.
    static func passphrase(_ prompt: String) throws(TokenError) -> Secret {
        let isPerson = isatty(STDIN_FILENO) == 1
        if isPerson {
            // Before the prompt: who sees it may begin to type.
            _ = agent_hide_typing(STDIN_FILENO)
            StandardStream.error.write(prompt)
        }
        defer {
            if isPerson {
                agent_show_typing()
                printError("")
            }
        }
        let line = try PassphraseLine.read(from: STDIN_FILENO)
        guard !line.isEmpty else { throw TokenError(.invalidDeveloperParameter, "no passphrase was given") }
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
}

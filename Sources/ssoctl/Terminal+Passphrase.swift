internal import AgentSocket
internal import CAgentSystem
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
        let line = try line()
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

    /// Up to the end of the line, byte by byte, so that no more is taken than it needs.
    private static func line() throws(TokenError) -> Secret {
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        var count = 0
        while count < bytes.count {
            let length = read(STDIN_FILENO, &bytes[count], 1)
            if length < 0, errno == EINTR { continue }
            guard length == 1, bytes[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        guard count <= longest else {
            throw TokenError(
                .invalidDeveloperParameter, "a passphrase may have \(longest) bytes, and this one has more")
        }
        return Secret(bytes: bytes[..<count])
    }

    /// Bytes of a passphrase; the same for the agent's `--passphrase-fd`.
    private static let longest = 4096
}

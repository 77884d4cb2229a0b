internal import AgentSocket
internal import ArgumentParser
internal import Dispatch
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A run of the program in which a shell asks for candidates. It prints these and nothing else: it asks the user
/// nothing, starts no agent, and ends within a second, or the time of `SSO_AGENT_COMPLETION_MS`, whatever the agent
/// does.
enum CompletionRun {
    /// The time limit of the run, in milliseconds.
    private static let limit = max(AgentEnvironment.value("SSO_AGENT_COMPLETION_MS").flatMap(Int.init) ?? 900, 1)

    /// The time for one request to the agent.
    static let timeout = Duration.milliseconds(limit / 9 * 7 + 1)

    /// Prepares the process if the command line is such a request of a shell.
    static func prepare(_ arguments: [String]) {
        guard arguments.first == "---completion" else { return }
        setenv("SSO_AGENT_START", "0", 1)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        if nowhere >= 0 { dup2(nowhere, STDERR_FILENO) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(limit)) { _exit(EXIT_FAILURE) }
    }

    /// Whether a connection starts no agent, as one to a socket of systemd's would while the service is stopped.
    static var mayAskAgent: Bool {
        let environment = AgentEnvironment.current
        return AgentEnvironment.value("SSO_AGENT_SOCK") != nil || ServiceUnit.state(environment) != .reachable
            || ServiceUnit.isRunning(environment)
    }

    /// The words as the shell's script wants them: once each, without those that no command line can have, or that would be printed with
    /// numbers in place of characters and so name nothing.
    static func words(_ words: [String], for shell: CompletionShell?) -> [String] {
        var seen: Set<String> = []
        return words.filter { word in
            !word.isEmpty && word.utf8.count <= 256 && word.utf8.first != UInt8(ascii: "-")
                && UntrustedText.clean(word) == word && TerminalText.neutralised(word) == word
                && seen.insert(word).inserted
        }.map { word in
            switch shell {
            case .bash: quotedForBash(word)
            case .zsh: withBackslashes(word) { $0 == "\\" || $0 == ":" }
            default: word
            }
        }
    }

    /// The word with a backslash before each character that a shell could expand: bash expands the words of `compgen
    /// -W`, and usernames come from identity providers.
    private static func quotedForBash(_ word: String) -> String {
        withBackslashes(word) { scalar in
            let byte = UInt8(exactly: scalar.value) ?? 0x80
            return !byte.isASCIILetterOrDigit && !"@._-+:/%,=".utf8.contains(byte)
        }
    }

    /// Goes over scalars, as shells do over bytes: a letter such as U+0D4E forms one `Character` with a dollar sign behind it.
    private static func withBackslashes(_ word: String, before needsOne: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        for scalar in word.unicodeScalars {
            if needsOne(scalar) { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }
}

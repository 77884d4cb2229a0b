internal import AgentSocket
internal import CAgentSystem
internal import Dispatch
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The terminal: standard output for results, standard error for messages and prompts.
enum Terminal {
    /// Prints a line as it is, such as one for a program.
    static func print(_ text: String) { StandardStream.output.write(text + "\n") }

    static func printError(_ text: String) { writeError(StyledText(text + "\n")) }

    /// Writes text for people, whose lines are broken at the width of the terminal.
    static func print(_ text: StyledText) { write(text, .output) }

    /// Writes a message without the end of its line.
    static func writeError(_ text: StyledText) { write(text, .error) }

    private static func write(_ text: StyledText, _ stream: StandardStream) {
        stream.write(text.wrapped(columns: stream.columns), abilities(stream.rawValue))
    }

    /// Reports on standard error if a part of the output could not be written, as to a full disk, unless `ClosedOutput` explains it.
    ///
    /// - Returns: whether that is so.
    static func reportLostOutput() -> Bool {
        guard let failure = StandardStream.outputFailure, !ClosedOutput.explains(failure),
            let problem = StandardStream.outputProblem
        else { return false }
        printError("ssoctl: \(problem)")
        return true
    }

    static func print(json value: some Encodable) { print(json(value)) }

    /// The value as JSON, on several lines.
    static func json(_ value: some Encodable) -> String { JSONText.of(value) }

    /// The value as JSON, on one line.
    static func jsonLine(_ value: some Encodable) -> String { JSONText.of(value, isOnOneLine: true) }

    /// Whether a person sees what is written to standard error.
    static var showsMessages: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether this process is in the foreground of the terminal that shows its messages.
    static var isInForeground: Bool { tcgetpgrp(STDERR_FILENO) == getpgrp() }

    /// Whether a line of messages can be written again.
    static var rewritesMessages: Bool { abilities(STDERR_FILENO).hasControls }

    /// The first of the forms of a message for which the terminal has room on one line, else the last one: a second line could not be
    /// erased.
    static func onOneLine(_ forms: [String]) -> String {
        let columns = StandardStream.error.columns ?? .max
        return forms.first { TerminalColumns.width($0) < columns } ?? forms.last ?? ""
    }

    /// Whether a person sees the messages and can answer.
    static var isInteractive: Bool { showsMessages && isatty(STDIN_FILENO) == 1 }

    /// The features of a stream's terminal; none if it is no terminal. `NO_COLOR` (no-color.org) disables colours.
    private static func abilities(_ descriptor: Int32) -> StyledText.Abilities {
        let kind = AgentEnvironment.value("TERM") ?? "dumb"
        let isTerminal = isatty(descriptor) == 1 && kind != "dumb"
        return StyledText.Abilities(
            hasColours: isTerminal && AgentEnvironment.value("NO_COLOR") == nil, hasControls: isTerminal)
    }

    /// The present time in seconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }
}

extension PrivateFiles {
    /// The files that are named on the command line.
    static let commandLine = PrivateFiles(errorCode: .invalidDeveloperParameter)
}

extension Terminal {
    /// Reads a passphrase from the terminal without echo, or from standard input if that is not a terminal.
    ///
    /// - Parameter command: the command that asks again, which an error names.
    /// - Throws: `invalidDeveloperParameter` (-51112) if the line is empty.
    static func passphrase(_ prompt: String, again command: String) throws(TokenError) -> Secret {
        let isPerson = isatty(STDIN_FILENO) == 1
        if isPerson {
            // The echo is disabled before the prompt, after which the user may type.
            _ = agent_hide_typing(STDIN_FILENO, prompt)
            StandardStream.error.write(prompt)
        }
        defer {
            if isPerson {
                agent_show_typing()
                printError("")
            }
        }
        do throws(TokenError) {
            let line = try PassphraseLine.read(from: STDIN_FILENO)
            guard !line.isEmpty else {
                let place = isPerson ? "" : "; run this on a terminal, or write the passphrase to its standard input"
                throw TokenError(.invalidDeveloperParameter, "no passphrase was given\(place)")
            }
            return line
        } catch {
            throw error.suggesting(command)
        }
    }

    /// Reads a new passphrase, on a terminal twice.
    ///
    /// - Parameter command: the command that asks again, which an error names.
    /// - Throws: `invalidDeveloperParameter` (-51112) if it is too short, or the second one is different.
    static func newPassphrase(again command: String) throws(TokenError) -> Secret {
        let first = try passphrase("New passphrase: ", again: command)
        do throws(TokenError) { try SetKey.check(newPassphrase: first) } catch { throw error.suggesting(command) }
        guard isatty(STDIN_FILENO) == 1 else { return first }
        guard try passphrase("Again: ", again: command) == first else {
            throw TokenError(.invalidDeveloperParameter, "the two passphrases differ").suggesting(command)
        }
        return first
    }
}

/// Prints the progress of an operation on a terminal: after a second, and then once a second. A job without one would have it in its log.
final class Progress: Sendable {
    private let what: String
    private let lastSaid: Mutex<DispatchTime>

    init(_ what: String) {
        self.what = what
        lastSaid = Mutex(.now())
    }

    /// Reports the progress as a fraction of 1.
    func report(_ fraction: Double) {
        guard Terminal.showsMessages else { return }
        let isDue = lastSaid.withLock { last in
            guard DispatchTime.now() >= last + .seconds(1) else { return false }
            last = .now()
            return true
        }
        if isDue { Terminal.printError("\(what): \(Int(fraction * 100)) %") }
    }
}

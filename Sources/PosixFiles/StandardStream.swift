internal import CAgentSystem
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard output and standard error of the process, written without a buffer: the only exit to a terminal.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all of a text, with the numbers of characters that a terminal would obey (`TerminalText`). The rest is dropped if the
    /// stream is closed or broken.
    package func write(_ text: String) {
        writeUnchecked(TerminalText.neutralised(text))
    }

    /// Writes all of a text for an app, as ``write(_:)`` does. A stream without a reader does not end the app (SIGPIPE).
    package func writeWithoutSignal(_ text: String) {
        var text = TerminalText.neutralised(text)
        text.withUTF8 { agent_write_without_signal(rawValue, $0.baseAddress, $0.count) }
    }

    /// Writes all of a text, whose control characters the terminal obeys.
    func writeUnchecked(_ text: String) {
        var text = text
        text.withUTF8 { characters in
            do throws(SystemError) {
                try FileDescriptor.writeAll(UnsafeRawBufferPointer(characters), to: rawValue)
            } catch {
                if self == .output { Self.lost.store(error.number, ordering: .relaxed) }
            }
        }
    }

    /// The reason why a part of the standard output was dropped; nil if all of it has been written.
    package static var outputFailure: SystemError? {
        let number = lost.load(ordering: .relaxed)
        return number == 0 ? nil : SystemError(number: number)
    }

    /// The sentence about that; nil if all of it has been written.
    package static var outputProblem: String? { outputFailure.map { "the output cannot be written: \($0)" } }

    private static let lost = Atomic<Int32>(0)

    /// The width of the terminal of a stream; nil if it is no terminal, or the width is not known.
    package var columns: Int? {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Makes the text of `--help` at least 40 columns wide, where `$COLUMNS` or the terminal has fewer. With fewer than 27, ArgumentParser
    /// omits the descriptions of options, and in a debug build it traps. Called before it makes a text, which it does for each error.
    package static func widenHelp() {
        let columns = getenv("COLUMNS").flatMap { Int(String(cString: $0)) } ?? output.columns ?? 80
        if columns < 40 { setenv("COLUMNS", "40", 1) }
    }
}

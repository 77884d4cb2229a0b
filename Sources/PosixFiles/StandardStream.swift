internal import Synchronization

/// The standard output and standard error of the process, written without a buffer: the only exit to a terminal.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all of a text, with the numbers of characters that a terminal would obey (`TerminalText`). The rest is dropped if the
    /// stream is closed or broken.
    package func write(_ text: String) {
        writeUnchecked(TerminalText.neutralised(text))
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

    private static let lost = Atomic<Int32>(0)
}

internal import Foundation
internal import Synchronization

/// What a child process prints on one of its streams.
final class ProcessOutput: Sendable {
    private let descriptor: Int32
    /// What was read behind the line that a wait was for.
    private let unread = Mutex(Data())

    /// Takes the ownership of the descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for `text`; returns everything that was not returned yet, up to the end of the line with it.
    func read(until text: String) async throws -> String {
        var printed = takeUnread()
        var line = Self.line(with: text, in: printed)
        while line == nil {
            let more = try await offPool { self.readAvailable() }
            guard !more.isEmpty else { throw TestProcess.Ended(printed: Self.text(printed)) }
            printed += more
            line = Self.line(with: text, in: printed)
        }
        let end = line ?? printed.endIndex
        let rest = Data(printed[end...])
        unread.withLock { $0 = rest }
        return Self.text(printed[..<end])
    }

    /// Everything that was not returned yet, up to the end of the stream.
    func readAll() async throws -> String {
        var all = takeUnread()
        all += try await offPool {
            var more = Data()
            while case let bytes = self.readAvailable(), !bytes.isEmpty { more += bytes }
            return more
        }
        return Self.text(all)
    }

    private func takeUnread() -> Data {
        unread.withLock { unread in
            defer { unread = Data() }
            return unread
        }
    }

    /// The end of the first line that contains `text`, or of everything if the rest of that line was not read yet.
    private static func line(with text: String, in printed: Data) -> Data.Index? {
        guard let found = printed.range(of: Data(text.utf8)) else { return nil }
        let last = printed[(found.upperBound - 1)...].firstIndex(of: UInt8(ascii: "\n"))
        return last.map { $0 + 1 } ?? printed.endIndex
    }

    /// Reads available bytes; empty at the end of the stream.
    private func readAvailable() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            count = max(Foundation.read(descriptor, buffer.baseAddress, buffer.count), 0)
        }
    }

    private static func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }
}

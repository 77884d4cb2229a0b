internal import CAgentSystem
internal import Foundation
internal import Synchronization

/// A process that a test started, with what it printed.
///
/// Spawned by hand: Foundation's `Process` lists `/proc/self/fd` while other tests open and close files, and has crashed there.
package final class TestProcess: Sendable {
    package let processID: Int32
    private let output: Int32
    private let errors: Int32
    private let status = Mutex<Int32?>(nil)

    /// Starts `executable`, a path or the name of one of this package's own.
    package init(_ executable: String, _ arguments: [String] = [], environment: [String: String]) throws {
        let (output, errors) = (try Self.pipe(), try Self.pipe())
        defer {
            close(output.write)
            close(errors.write)
        }
        processID = try Self.spawn(
            [Executable.path(executable)] + arguments, environment, output: output.write, errors: errors.write)
        self.output = output.read
        self.errors = errors.read
    }

    deinit {
        close(output)
        close(errors)
    }

    /// Waits until it prints a line that contains `text` on standard error; returns everything it printed up to then.
    @discardableResult
    package func waitForError(_ text: String) async throws -> String {
        var printed = ""
        while !printed.contains(text) {
            let bytes = try await offPool { [errors] in Self.read(errors) }
            guard !bytes.isEmpty else { throw Ended(printed: printed) }
            printed += String(decoding: bytes, as: UTF8.self)
        }
        return printed
    }

    /// Waits for its end and returns everything it printed since the last wait.
    package func finish() async throws -> (status: Int32, output: String, errors: String) {
        async let out = Self.readAll(output)
        async let err = Self.readAll(errors)
        let printed = try await (out, err)
        return (try await waitForExit(), printed.0, printed.1)
    }

    /// Ends it with no chance to tidy up.
    package func killHard() async throws {
        kill(processID, SIGKILL)
        _ = try await waitForExit()
    }

    /// Sends a signal, unless it has ended and somebody else may have its number.
    package func signal(_ number: Int32) {
        status.withLock { if $0 == nil { kill(processID, number) } }
    }

    /// Its exit status, or 128 and the number of the signal that ended it.
    private func waitForExit() async throws -> Int32 {
        if let known = status.withLock(\.self) { return known }
        let raw = try await offPool { [processID] in
            var raw: Int32 = 0
            while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
            return raw
        }
        let ended = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
        status.withLock { $0 = ended }
        return ended
    }

    private static func readAll(_ descriptor: Int32) async throws -> String {
        let bytes = try await offPool {
            var all: [UInt8] = []
            while case let more = read(descriptor), !more.isEmpty { all += more }
            return all
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Empty at the end.
    private static func read(_ descriptor: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
            count = max(Foundation.read(descriptor, buffer.baseAddress, buffer.count), 0)
        }
    }

    /// The process ended before it said what was waited for.
    package struct Ended: Error {
        package let printed: String
    }
}

extension TestProcess {
    /// A pair of sockets serves as a pipe: unlike a pipe's, their ends can be made closed on exec in one step, so that no
    /// other test's process inherits them and keeps them open.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        return (ends[0], ends[1])
    }

    /// With every signal as it is in a fresh process: the threads of Swift's pool block them.
    private static func spawn(
        _ words: [String], _ environment: [String: String], output: Int32, errors: Int32
    ) throws -> Int32 {
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // The sockets of the agents and emulators in this process have to be closed when they close them.
        _ = agent_spawn_close_from(&actions, 3)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var processID = pid_t()
        let code = posix_spawn(&processID, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        return processID
    }
}

internal import Foundation
internal import Synchronization

/// A child process of a test, and its output.
///
/// Started with `posix_spawn`: Foundation's `Process` lists `/proc/self/fd` while other tests open and close files, and has crashed there.
/// It is reaped as soon as it ends: the monitor of Swift Testing's exit tests waits for any child, and spins as long as
/// one of them has ended and is not reaped.
package final class TestProcess: Sendable {
    package let processID: Int32
    private let output: ProcessOutput
    private let errors: ProcessOutput
    private let exit: ProcessExit

    /// Starts `executable`, a path or the name of one of this package's executables.
    ///
    /// - Parameter environment: nil is the environment of this process.
    package init(
        _ executable: String, _ arguments: [String] = [],
        environment: [String: String]? = nil
    ) throws {
        let (output, errors) = (try Self.pipe(), try Self.pipe())
        defer {
            close(output.write)
            close(errors.write)
        }
        processID = try Self.spawn(
            [Executable.path(executable)] + arguments,
            environment?.merging(Sanitizer.variables) { given, _ in given } ?? ProcessInfo.processInfo.environment,
            output: output.write, errors: errors.write)
        self.output = ProcessOutput(output.read)
        self.errors = ProcessOutput(errors.read)
        exit = ProcessExit(of: processID)
    }

    /// Waits until it prints `text` on standard error; returns everything it printed since the last wait up to the end of that line.
    ///
    /// What it printed behind that line is for the next wait: the lines of a process come together if this process was delayed.
    @discardableResult
    package func waitForError(_ text: String) async throws -> String {
        try await errors.read(until: text)
    }

    /// Waits as `waitForError(_:)` does, on standard output.
    @discardableResult
    package func waitForOutput(_ text: String) async throws -> String {
        try await output.read(until: text)
    }

    /// Waits for the end of the process, and returns everything it printed since the last wait.
    package func finish() async throws -> (status: Int32, output: String, errors: String) {
        async let out = output.readAll()
        async let err = errors.readAll()
        let printed = try await (out, err)
        return (await exit.status(), printed.0, printed.1)
    }

    /// Waits for the end of the process, and reads nothing that it prints; returns its status.
    package func end() async -> Int32 { await exit.status() }

    /// Ends the process with SIGKILL, and waits for its end.
    package func killHard() async throws {
        signal(SIGKILL)
        _ = await exit.status()
    }

    /// Sends a signal, unless the process has ended: another process may have its ID then.
    package func signal(_ number: Int32) { exit.signal(number) }

    /// The process ended before it printed the expected line.
    package struct Ended: Error {
        package let printed: String
    }
}

/// The end of a child process: a thread waits for it and reaps it at once.
private final class ProcessExit: Sendable {
    private enum State {
        case running([CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    private let processID: Int32
    private let state = Mutex(State.running([]))

    init(of processID: Int32) {
        self.processID = processID
        Thread.detachNewThread { self.reap() }
    }

    /// The exit status, or 128 and the number of the signal that ended it.
    func status() async -> Int32 {
        await withCheckedContinuation { continuation in
            let ended = state.withLock { state -> Int32? in
                switch state {
                case .running(let waiting):
                    state = .running(waiting + [continuation])
                    return nil
                case .ended(let status): return status
                }
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    func signal(_ number: Int32) {
        // While the lock is held the process is not reaped, so the process ID is still its own.
        state.withLock { if case .running = $0 { kill(processID, number) } }
    }

    private func reap() {
        var ended = siginfo_t()
        while waitid(P_PID, id_t(processID), &ended, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let (status, waiting) = state.withLock { state -> (Int32, [CheckedContinuation<Int32, Never>]) in
            var raw: Int32 = 0
            while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
            let status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
            guard case .running(let waiting) = state else { return (status, []) }
            state = .ended(status)
            return (status, waiting)
        }
        for continuation in waiting { continuation.resume(returning: status) }
    }
}

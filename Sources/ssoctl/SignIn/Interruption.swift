internal import CAgentSystem
internal import Dispatch
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Ends an operation cleanly when the user presses Ctrl-C, or the system stops the process.
enum Interruption {
    /// Runs an operation, and cancels it when SIGINT or SIGTERM arrives; a second signal ends the process at once. Afterwards the
    /// first one does so.
    ///
    /// Called once in a process.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the system has no room for the threads that this needs: it would wait for them, and no
    ///   signal would end it. Else the error of the operation; after a signal `userCanceled` (-51700), with the signal, unless the error
    ///   says that tokens have been saved.
    static func cancelling<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard (try? ThreadRoom.require(threadCount)) != nil else { throw ThreadRoom.exhausted }
        let box = SignalBox()
        let task = Task { try await operation() }
        let source = listen { number in
            let isFirst = box.set(number)
            if isFirst { task.cancel() } else { _exit(128 + number) }
        }
        defer {
            source?.cancel()
            signal(SIGINT, SIG_DFL)
            signal(SIGTERM, SIG_DFL)
        }
        do {
            return try await task.value
        } catch {
            let hasTokens = (error as? TokenError)?.details.partialResult != nil
            guard let number = box.number, !hasTokens else { throw error }
            var failure = CommandFailure(TokenError(.userCanceled, "the sign-in was cancelled"))
            failure.endingSignal = number
            throw failure
        }
    }

    /// Those of the signals, the connection, the end of the output and the tasks.
    private static let threadCount: Int32 = 8

    private static func listen(_ handler: @escaping @Sendable (Int32) -> Void) -> (any DispatchSourceRead)? {
        let descriptor = agent_catch_stop_signals()
        // Without a pipe, the signals end the process at once.
        guard descriptor >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "ssoctl.signals"))
        source.setEventHandler {
            var byte: UInt8 = 0
            guard read(descriptor, &byte, 1) == 1 else { return }
            handler(Int32(byte))
        }
        source.resume()
        return source
    }
}

/// The signal that has arrived.
private final class SignalBox: Sendable {
    private let value = Mutex<Int32?>(nil)

    var number: Int32? { value.withLock(\.self) }

    /// Returns whether it is the first one.
    func set(_ number: Int32) -> Bool {
        value.withLock { value in
            defer { value = value ?? number }
            return value == nil
        }
    }
}

internal import CCurl
internal import Synchronization

/// HTTP/1.1 over the system's libcurl: TLS 1.2 or later, no redirects, no cookies, no settings from the environment.
///
/// One thread drives all transfers. A request starts it, and the first one loads libcurl. The thread ends after a while
/// without requests. An agent that answers only from its cache has neither the thread nor the library. Each request has a
/// connection of its own, which is closed after the response. Every method may be called from any task. ``close()`` must be
/// called before the last reference is released.
package final class CurlEngine: Sendable {
    private enum Command {
        case start(CurlTransfer)
        case stop(CurlTransfer)
    }

    private struct State {
        var commands: [Command] = []
        /// The transfers of the thread; nil while it does not wait for them.
        var multi: CurlMulti?
        /// The handle of the thread, until it has been joined.
        var thread: UInt?
        var isRunning = false
        /// Whether nothing more is sent.
        var hasStoppedSending = false
        var isClosed = false
        /// The calls of `close` that wait for the end of the thread.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let idle: Duration
    private let connectionsPerHost: Int
    private let connections: Int
    private let emulatesOldLibrary: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - idle: the time after which the thread ends without a transfer.
    ///   - connectionsPerHost: the largest number of connections to one host; further requests wait.
    ///   - connections: the largest number of connections in all; 0 is no limit.
    ///   - emulatesOldLibrary: whether to behave as with a libcurl older than 7.80, which does not report when a request is
    ///     sent; for tests.
    package init(idle: Duration, connectionsPerHost: Int = 8, connections: Int = 0, emulatesOldLibrary: Bool = false) {
        self.idle = idle
        self.connectionsPerHost = connectionsPerHost
        self.connections = connections
        self.emulatesOldLibrary = emulatesOldLibrary
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// It is sent once at most. When the task is cancelled, the call ends at once, and nothing is sent after it. If a body may have been sent
    /// before, it ends with the response that has arrived by then, or reports the part of it as `CurlSending.incomplete`.
    /// - Parameter sending: called with the progress of the request on the thread of the engine; must not block.
    package func send(
        _ request: CurlRequest, sending: @escaping @Sendable (CurlSending) -> Void = { _ in }
    ) async throws(CurlFailure) -> CurlResponse {
        let transfer = CurlTransfer(request, sending: sending)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.awaitEnd(continuation)
                post(.start(transfer))
            }
        } onCancel: {
            // Otherwise the thread ends it, since the response or a part of it may have arrived.
            if !transfer.mayHaveSentBody { transfer.end(.failure(.cancelled)) }
            post(.stop(transfer))
        }
        // It is resumed after the end.
        return try (transfer.outcome ?? .failure(.cancelled)).get()
    }

    /// Ends the transfers of which no part of a body can have been sent, and every later one, with `cancelled`. The others go on, since the
    /// server may have acted on the body.
    package func stopSending() {
        state.withLock { state in
            state.hasStoppedSending = true
            state.multi?.wake()
        }
    }

    /// Ends every transfer, and every later one, with `cancelled`. When it returns, the thread has ended and every
    /// connection is closed. A thread of libcurl that waits for a name server may run until that responds.
    package func close() async {
        await withCheckedContinuation { continuation in
            let isRunning = state.withLock { state in
                state.isClosed = true
                guard state.isRunning else { return false }
                state.waiters.append(continuation)
                state.multi?.wake()
                return true
            }
            if !isRunning { continuation.resume() }
        }
        join()
    }

    private func post(_ command: Command) {
        let refusal = state.withLock { state -> CurlFailure? in
            if state.isClosed { return .cancelled }
            if case .start = command, state.hasStoppedSending { return .cancelled }
            if case .stop = command, !state.isRunning { return nil }
            state.commands.append(command)
            guard !state.isRunning else {
                state.multi?.wake()
                return nil
            }
            return startThread(&state)
        }
        if let refusal, case .start(let transfer) = command { transfer.end(.failure(refusal)) }
    }

    // MARK: The thread

    private func startThread(_ state: inout State) -> CurlFailure? {
        // The previous thread has left its loop, so that this does not block.
        if let ended = state.thread.take() { ccurl_thread_join(ended) }
        let engine = Unmanaged.passRetained(self)
        var thread: UInt = 0
        let code = ccurl_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<CurlEngine>.fromOpaque(context).takeRetainedValue().run()
            }, engine.toOpaque(), &thread)
        guard code == 0 else {
            engine.release()
            state.commands = []
            return .unavailable("no thread can be started for HTTP (error \(code))")
        }
        state.thread = thread
        state.isRunning = true
        return nil
    }

    /// The body of the thread. It checks for new requests under the lock before it ends, so that none is lost.
    private func run() {
        var waiters: [CheckedContinuation<Void, Never>]?
        while waiters == nil {
            serve()
            waiters = state.withLock { state in
                guard state.commands.isEmpty else { return nil }
                state.isRunning = false
                return state.waiters
            }
        }
        for waiter in waiters ?? [] { waiter.resume() }
    }

    private func serve() {
        if let failure = ccurl_load() {
            refuse(.unavailable(String(cString: failure)))
        } else if let multi = CurlMulti(connectionsPerHost: connectionsPerHost, connections: connections) {
            state.withLock { $0.multi = multi }
            serve(multi)
        } else {
            refuse(.unavailable("there is no memory or no file descriptor left for HTTP"))
        }
    }

    /// Fails all requests that have arrived.
    private func refuse(_ failure: CurlFailure) {
        for case .start(let transfer) in removeCommands().commands { transfer.end(.failure(failure)) }
    }

    private func removeCommands() -> (commands: [Command], hasStoppedSending: Bool, isClosed: Bool) {
        state.withLock { state in
            defer { state.commands = [] }
            return (state.commands, state.hasStoppedSending, state.isClosed)
        }
    }

    /// Drives transfers until there has been none for `idle`, or the engine is closed.
    private func serve(_ multi: CurlMulti) {
        var active: [OpaquePointer: CurlTransfer] = [:]
        var lastUse = ContinuousClock.now
        while true {
            // Before the commands: what has arrived of the response of a transfer that is to be stopped is read first.
            multi.advance()
            while let (pointer, result) = multi.nextEnded() {
                let transfer = active.removeValue(forKey: pointer)
                let isTriedAgain = result.may_be_trusted
                if !isTriedAgain { transfer?.end(result) }
                multi.remove(pointer)
                if isTriedAgain, let transfer { start(transfer, multi, &active, readsAllAuthorities: true) }
            }
            let (commands, hasStoppedSending, isClosed) = removeCommands()
            for command in commands { perform(command, multi, &active) }
            if isClosed || hasStoppedSending {
                for (pointer, transfer) in active where isClosed || !transfer.mayHaveSentBody {
                    stop(transfer, pointer, multi, &active)
                }
            }
            guard active.isEmpty else {
                multi.wait(atMost: .seconds(60))
                lastUse = .now
                continue
            }
            let left = idle - (ContinuousClock.now - lastUse)
            if isClosed || left <= .zero {
                let hasEnded = state.withLock { state in
                    guard state.commands.isEmpty else { return false }
                    state.multi = nil
                    return true
                }
                if hasEnded { return }
            } else {
                multi.wait(atMost: left)
            }
        }
    }

    private func perform(_ command: Command, _ multi: CurlMulti, _ active: inout [OpaquePointer: CurlTransfer]) {
        switch command {
        case .start(let transfer): start(transfer, multi, &active)
        case .stop(let transfer):
            guard let pointer = active.first(where: { $0.value === transfer })?.key else { return }
            stop(transfer, pointer, multi, &active)
        }
    }

    /// Ends a transfer, with what has arrived of the response, and removes it.
    private func stop(
        _ transfer: CurlTransfer, _ pointer: OpaquePointer, _ multi: CurlMulti,
        _ active: inout [OpaquePointer: CurlTransfer]
    ) {
        active[pointer] = nil
        transfer.end(multi.part(of: pointer))
        multi.remove(pointer)
    }

    private func start(
        _ transfer: CurlTransfer, _ multi: CurlMulti, _ active: inout [OpaquePointer: CurlTransfer],
        readsAllAuthorities: Bool = false
    ) {
        guard transfer.outcome == nil else { return }
        let pointer = multi.add(
            transfer, emulatesOldLibrary: emulatesOldLibrary, readsAllAuthorities: readsAllAuthorities)
        guard let pointer else { return transfer.end(.failure(.other("libcurl does not take the request"))) }
        active[pointer] = transfer
    }

    private func join() {
        let ended = state.withLock { state in state.isRunning ? nil : state.thread.take() }
        if let ended { ccurl_thread_join(ended) }
    }
}

internal import CCurl
internal import Synchronization

/// HTTP/1.1 over the system's libcurl: TLS 1.2 or later, no redirects, no cookies, no settings from the environment.
///
/// One thread drives all transfers. It is started by a request, loads libcurl if it is the first, and ends some time after
/// the last answer, which closes the connections: an agent that only answers from its cache has neither thread nor
/// library. Every method may be called from any task. Call ``close()`` before the last reference goes.
package final class CurlEngine: Sendable {
    private enum Command {
        case start(CurlTransfer)
        case stop(CurlTransfer)
    }

    private struct State {
        var mailbox: [Command] = []
        /// The transfers' home, while the thread can be woken.
        var multi: CurlMulti?
        /// The thread, until it has been joined.
        var thread: UInt?
        var isRunning = false
        var isClosed = false
        /// Who waits for the thread to end.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let idle: Duration
    private let connectionsPerHost: Int
    private let actsOld: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - idle: how long an idle connection may be used again, and the thread lives on without a transfer.
    ///   - connectionsPerHost: more requests to one host wait for one of them.
    ///   - actsOld: whether to act as with a libcurl older than 7.80, which cannot say when a request is sent: for tests.
    package init(idle: Duration, connectionsPerHost: Int = 8, actsOld: Bool = false) {
        self.idle = idle
        self.connectionsPerHost = connectionsPerHost
        self.actsOld = actsOld
    }

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// A request is sent once at most. When the task is cancelled, the call ends at once, and nothing is sent after it.
    /// - Parameter sending: told on the thread of the engine what happens to the request; must not wait.
    package func send(
        _ request: CurlRequest, sending: @escaping @Sendable (CurlSending) -> Void = { _ in }
    ) async throws(CurlFailure) -> CurlResponse {
        let transfer = CurlTransfer(request, sending: sending)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.awaitEnd(continuation)
                post(.start(transfer))
            }
        } onCancel: {
            transfer.end(.failure(.cancelled))
            post(.stop(transfer))
        }
        return try outcome.get()
    }

    /// Ends every transfer with `cancelled`, and every later one too. When it returns, the thread has ended and every
    /// connection is closed. Only a thread of libcurl's that waits for a name server may live on until that answers.
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
            if case .stop = command, !state.isRunning { return nil }
            state.mailbox.append(command)
            guard !state.isRunning else {
                state.multi?.wake()
                return nil
            }
            return startThread(&state)
        }
        if let refusal, case .start(let transfer) = command { transfer.end(.failure(refusal)) }
    }

    // MARK: - The thread

    private func startThread(_ state: inout State) -> CurlFailure? {
        // The one before has nothing left to do but to end.
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
            state.mailbox = []
            return .unavailable("no thread can be started for HTTP (error \(code))")
        }
        state.thread = thread
        state.isRunning = true
        return nil
    }

    /// What the thread does. It looks for new requests once more when everything is released, so that none is left behind.
    private func run() {
        var waiters: [CheckedContinuation<Void, Never>]?
        while waiters == nil {
            serve()
            waiters = state.withLock { state in
                guard state.mailbox.isEmpty else { return nil }
                state.isRunning = false
                return state.waiters
            }
        }
        for waiter in waiters ?? [] { waiter.resume() }
    }

    private func serve() {
        if let failure = ccurl_load() {
            refuse(.unavailable(String(cString: failure)))
        } else if let multi = CurlMulti(connectionsPerHost: connectionsPerHost) {
            state.withLock { $0.multi = multi }
            serve(multi)
        } else {
            refuse(.unavailable("there is no memory left for HTTP"))
        }
    }

    /// Fails what has been asked for.
    private func refuse(_ failure: CurlFailure) {
        for case .start(let transfer) in takeMail().commands { transfer.end(.failure(failure)) }
    }

    private func takeMail() -> (commands: [Command], isClosed: Bool) {
        state.withLock { state in
            defer { state.mailbox = [] }
            return (state.mailbox, state.isClosed)
        }
    }

    /// Drives transfers until there has been none for a while, or the engine is closed.
    private func serve(_ multi: CurlMulti) {
        var active: [OpaquePointer: CurlTransfer] = [:]
        var lastUse = ContinuousClock.now
        while true {
            let (commands, isClosed) = takeMail()
            for command in commands { obey(command, multi, &active) }
            if isClosed {
                for (pointer, transfer) in active {
                    transfer.end(.failure(.cancelled))
                    multi.remove(pointer)
                }
                active = [:]
            }
            multi.advance()
            while let (pointer, result) = multi.nextEnded() {
                active.removeValue(forKey: pointer)?.end(result)
                multi.remove(pointer)
            }
            guard active.isEmpty else {
                multi.wait(atMost: .seconds(60))
                lastUse = .now
                continue
            }
            let left = idle - (ContinuousClock.now - lastUse)
            if isClosed || left <= .zero {
                let isOver = state.withLock { state in
                    guard state.mailbox.isEmpty else { return false }
                    state.multi = nil
                    return true
                }
                if isOver { return }
            } else {
                multi.wait(atMost: left)
            }
        }
    }

    private func obey(_ command: Command, _ multi: CurlMulti, _ active: inout [OpaquePointer: CurlTransfer]) {
        switch command {
        case .start(let transfer):
            guard !transfer.hasEnded else { return }
            guard let pointer = multi.add(transfer, idle: idle, actsOld: actsOld) else {
                return transfer.end(.failure(.other("libcurl does not take the request")))
            }
            active[pointer] = transfer
        case .stop(let transfer):
            guard let pointer = active.first(where: { $0.value === transfer })?.key else { return }
            active[pointer] = nil
            multi.remove(pointer)
        }
    }

    private func join() {
        let ended = state.withLock { state in state.isRunning ? nil : state.thread.take() }
        if let ended { ccurl_thread_join(ended) }
    }
}

internal import AgentSocket
internal import PosixFiles
internal import Synchronization
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The loop of the reading thread: connects, delivers replies, and connects again while calls wait for a connection.
struct ConnectionReader {
    private let connection: AgentConnection
    private let path: String
    private let appName: String
    /// The results that are kept; nil also at an agent of another user, which has no page for this process. The other descriptors that it
    /// could send may take as long to close as it wants, and the thread that reads closes them.
    private let results: KeptResults?

    init(connection: AgentConnection, path: String, appName: String) {
        (self.connection, self.path, self.appName) = (connection, path, appName)
        results = AgentEnvironment.current.expectsOwnAgent ? connection.results : nil
    }

    func run() {
        var isNeeded = true
        while isNeeded {
            // Made before the connection: without descriptors for it, no connection could be used. And for each one: the app may have closed
            // the descriptors of the last one.
            let wake: (read: OwnDescriptor, write: OwnDescriptor)
            do throws(SystemError) {
                let ends = try PipeEnds(isNonBlocking: true)
                wake = (OwnDescriptor(ends.read), OwnDescriptor(ends.write))
            } catch {
                return connection.endCalls(with: TokenError(.agentUnavailable, "no pipe: \(error)"))
            }
            defer {
                wake.read.close()
                wake.write.close()
            }
            let socket: Int32?
            do throws(TokenError) { socket = try connect() } catch { return connection.endCalls(with: error) }
            guard let socket else { return }
            serve(OwnDescriptor(socket), wake)
            let (ended, hasCallsLeft) = connection.state.withLock { $0.connectionBroke() }
            for call in ended { call.deliver(.failure(AgentConnection.gone)) }
            isNeeded = hasCallsLeft
        }
    }

    /// Connects to the agent, and starts it if there is none and the user wants that. Calls end at their deadlines meanwhile.
    ///
    /// - Returns: the socket; nil if every call has ended before an agent was found, and the thread has to end.
    private func connect() throws(TokenError) -> Int32? {
        var (socket, isMissing) = try tryToConnect(again: connection.state.withLock(\.wasConnected))
        var problem = { (state: String) in Problem(state, .run("ssoctl doctor")) }
        if socket == nil, isMissing, connection.state.withLock({ $0.isOpen }) {
            connection.endLateCalls()
            // An agent that its user has stopped must not be started if nobody needs it.
            if connection.state.withLock({ $0.endThreadIfIdle() }) { return nil }
            switch connection.startAgent() {
            case .started: (socket, isMissing) = try tryToConnect(again: true)
            case .failed(let reason): problem = { reason.after($0 + "; ") }
            case .unusable(let error): throw error
            case .mayNot(let advice): problem = advice.problem
            case nil: problem = { Problem($0) }
            }
        }
        if let socket { return socket }
        let state =
            isMissing ? "no agent is running at \(path)" : "the agent at \(path) accepts no connection at present"
        throw TokenError(.agentUnavailable, problem(state))
    }

    /// Connects. If the agent is missing, it may be restarting.
    ///
    /// - Parameter again: whether to try again for two seconds if no process listens.
    /// - Returns: the socket, nil if no connection could be made; and whether no process listens.
    private func tryToConnect(again: Bool) throws(TokenError) -> (socket: Int32?, isMissing: Bool) {
        try AgentEnvironment.current.requireSocketOwner()
        let deadline = MonotonicTime.now.advanced(by: .seconds(2))
        while true {
            var isMissing = false
            switch try UnixSocket.connectToAgent(at: path, receivesDescriptors: results != nil) {
            case .connected(let socket): return (socket, false)
            case .nobody:
                isMissing = true
                if !again { return (nil, true) }
            case .busy: break
            }
            guard MonotonicTime.now < deadline, connection.state.withLock({ $0.isOpen }) else {
                return (nil, isMissing)
            }
            poll(nil, 0, 10)
            connection.endLateCalls()
        }
    }

    /// Uses a connection until it breaks or the client is closed, and closes it then.
    ///
    /// - Parameter wake: a pipe. A byte in it wakes the thread, which then looks at the state of the connection.
    private func serve(_ socket: OwnDescriptor, _ wake: (read: OwnDescriptor, write: OwnDescriptor)) {
        UnixSocket.letReadersWait(on: socket.number, milliseconds: 1)
        var hello = Hello(appName: appName)
        hello.acceptsPage = results != nil
        let frame = (try? RequestFrame.encode(hello, id: connection.newID())) ?? []
        connection.stream.withLock { $0 = ReplyStream(socket: socket.number, results: results) }
        let late = connection.state.withLock {
            $0.opened(socket: socket, wake: wake.write, hello: frame, at: .now)
        }
        for call in late { call.deliver(.failure(AgentConnection.late)) }
        deliverReplies(from: socket, wake: wake.read)
        // State and stream drop the file descriptors, under their locks, before these are closed and may be reused.
        connection.state.withLock { $0.disconnected() }
        connection.stream.withLock { stream in
            stream?.wipe()
            stream = nil
            results?.drop()
        }
        // Closing is not enough: a copy (`fork`) of this process has the descriptor too, and the agent would take the connection for open.
        socket.shutDown()
        socket.close()
    }

    private func deliverReplies(from socket: OwnDescriptor, wake: OwnDescriptor) {
        while let wait = connection.state.withLock({ $0.nextWait() }) {
            var events = [
                pollfd(fd: socket.number, events: wait.events, revents: 0),
                pollfd(fd: wake.number, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&events, 2, wait.deadline.pollTimeout(from: .now))
            // An app that has forbidden itself to open files (RLIMIT_NOFILE) may not wait for two of them either.
            guard count >= 0 || errno == EINTR else { return }
            // The app has closed the other end of the pipe, and perhaps goes on closing.
            guard events[1].revents & ~Int16(POLLIN) == 0, socket.isOpen, wake.isOpen else { return }
            if events[1].revents != 0 { drain(wake.number) }
            if events[0].revents & Int16(POLLOUT) != 0 { connection.state.withLock { _ = $0.flush() } }
            if events[0].revents & ~Int16(POLLOUT) != 0,
                !connection.receive(waits: false, { connection.deliver($0) })
            {
                return
            }
            connection.endLateCalls()
        }
    }

    private func drain(_ descriptor: Int32) {
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = read(descriptor, &bytes, 16)
    }
}

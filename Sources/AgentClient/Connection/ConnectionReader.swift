internal import AgentSocket
internal import Synchronization
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The loop of the reading thread: connects, delivers replies, and connects again while calls wait for a connection.
struct ConnectionReader: ~Copyable {
    let connection: AgentConnection
    let path: String
    let appName: String
    private var wasConnected: Bool

    init(connection: AgentConnection, path: String, appName: String, wasConnected: Bool) {
        self.connection = connection
        self.path = path
        self.appName = appName
        self.wasConnected = wasConnected
    }

    mutating func run() {
        var isNeeded = true
        while isNeeded {
            let socket: Int32
            do throws(TokenError) {
                socket = try connect()
            } catch {
                for call in connection.state.withLock({ $0.connectingFailed() }) { call.deliver(.failure(error)) }
                return
            }
            wasConnected = true
            connection.connected()
            serve(socket)
            let (ended, hasCallsLeft) = connection.state.withLock { $0.connectionBroke() }
            for call in ended { call.deliver(.failure(AgentConnection.gone)) }
            isNeeded = hasCallsLeft
        }
    }

    /// Connects to the agent, and starts it if there is none and the user wants that.
    private func connect() throws(TokenError) -> Int32 {
        var (socket, isMissing) = try tryToConnect(again: wasConnected)
        var reason = "start it with: \(ServiceUnit.startCommand)"
        if socket == nil, isMissing, connection.state.withLock({ $0.isOpen }) {
            switch connection.startAgent() {
            case .started: (socket, isMissing) = try tryToConnect(again: true)
            case .failed(let why): reason = why
            case .mayNot: break
            }
        }
        guard let socket else {
            throw TokenError(.agentUnavailable, "no agent is running at \(path); \(reason)")
        }
        return socket
    }

    /// Connects. If the agent is missing, it may be restarting.
    ///
    /// - Parameter again: whether to try again for two seconds if nobody listens.
    /// - Returns: nil if that was in vain, and whether nobody listens.
    private func tryToConnect(again: Bool) throws(TokenError) -> (socket: Int32?, isMissing: Bool) {
        let deadline = MonotonicTime.now.advanced(by: .seconds(2))
        while true {
            var isMissing = false
            switch try UnixSocket.connect(to: path) {
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
        }
    }

    private func serve(_ socket: Int32) {
        var wake: [Int32] = [-1, -1]
        guard pipe(&wake) == 0 else {
            close(socket)
            return
        }
        let (wakeEnd, wakeStart) = (wake[0], wake[1])
        for end in wake {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        UnixSocket.letReadersWait(on: socket, milliseconds: 1)
        var hello = Hello(appName: appName)
        hello.acceptsPage = connection.results != nil
        let greeting = (try? RequestFrame.encode(hello, id: connection.newID())) ?? []
        connection.stream.withLock { $0 = ReplyStream(socket: socket, results: connection.results) }
        connection.state.withLock { $0.opened(socket: socket, wake: wakeStart, greeting: greeting) }
        deliverReplies(from: socket, wake: wakeEnd)
        // State and stream drop the file descriptors, under their locks, before these are closed and may be reused.
        connection.state.withLock { $0.disconnected() }
        connection.stream.withLock { stream in
            stream?.wipe()
            stream = nil
            connection.results?.drop()
        }
        close(socket)
        close(wakeEnd)
        close(wakeStart)
    }

    private func deliverReplies(from socket: Int32, wake: Int32) {
        while let wait = connection.state.withLock({ $0.nextWait() }) {
            var events = [
                pollfd(fd: socket, events: wait.events, revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            poll(&events, 2, wait.deadline.pollTimeout(from: .now))
            if events[1].revents != 0 { drain(wake) }
            if events[0].revents & Int16(POLLOUT) != 0 { connection.state.withLock { $0.flush() } }
            if events[0].revents & ~Int16(POLLOUT) != 0,
                !connection.receive(waits: false, { connection.deliver($0) })
            {
                return
            }
            let late = TokenError(.timedOut, "the agent did not answer in time")
            for call in connection.state.withLock({ $0.expire(at: .now) }) { call.deliver(.failure(late)) }
        }
    }

    private func drain(_ descriptor: Int32) {
        var bytes: (UInt64, UInt64) = (0, 0)
        _ = read(descriptor, &bytes, 16)
    }
}

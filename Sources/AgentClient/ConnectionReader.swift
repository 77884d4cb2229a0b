internal import AgentSocket
internal import Synchronization
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The reading thread's work: open, read, deliver, and open again when calls still wait.
struct ConnectionReader: ~Copyable {
    let connection: AgentConnection
    let path: String
    let appName: String
    private var wasConnected = false

    init(connection: AgentConnection, path: String, appName: String) {
        self.connection = connection
        self.path = path
        self.appName = appName
    }

    mutating func run() {
        repeat {
            let socket: Int32
            do throws(TokenError) {
                socket = try open()
            } catch {
                for call in connection.state.withLock({ $0.gaveUp() }) { call.deliver(.failure(error)) }
                return
            }
            wasConnected = true
            serve(socket)
            let gone = TokenError(.agentUnavailable, "the agent went away before it answered; try again")
            for call in connection.state.withLock({ $0.broke() }) { call.deliver(.failure(gone)) }
        } while connection.state.withLock({ $0.wantsConnection })
    }

    /// Connects. An agent that was there a moment ago is being restarted: it gets two seconds to come back.
    private func open() throws(TokenError) -> Int32 {
        let patience = MonotonicTime.now.advanced(by: .seconds(2))
        while true {
            let attempt = try UnixSocket.connect(to: path)
            if case .connected(let socket) = attempt { return socket }
            if case .nobody = attempt, !wasConnected { break }
            guard MonotonicTime.now < patience, connection.state.withLock({ $0.isOpen }) else { break }
            poll(nil, 0, 10)
        }
        throw TokenError(
            .agentUnavailable, "no agent is running at \(path); start it with: sso-agent &")
    }

    private func serve(_ socket: Int32) {
        var wake: [Int32] = [-1, -1]
        guard pipe(&wake) == 0 else {
            close(socket)
            return
        }
        let (wakeEnd, wakeStart) = (wake[0], wake[1])
        for end in wake { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let greeting = (try? Request(id: connection.reserveID(), .hello(Hello(appName: appName))).frame()) ?? []
        connection.state.withLock { $0.opened(socket: socket, wake: wakeStart, greeting: greeting) }
        pump(socket, wake: wakeEnd)
        // The state forgets the descriptors, under its lock, before they are closed: a caller never writes to a reused number.
        connection.state.withLock { $0.disconnected() }
        close(socket)
        close(wakeEnd)
        close(wakeStart)
    }

    private func pump(_ socket: Int32, wake: Int32) {
        var decoder = FrameDecoder(limit: WireLimits.replyFrame)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        defer {
            wipeMemory(buffer)
            buffer.deallocate()
        }
        while connection.state.withLock({ $0.isOpen }) {
            let (armed, hasOutput) = connection.state.withLock { ($0.arm(), $0.hasOutput) }
            var events = [
                pollfd(fd: socket, events: Int16(hasOutput ? POLLIN | POLLOUT : POLLIN), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            poll(&events, 2, armed.pollTimeout(from: .now))
            if events[1].revents != 0 { _ = read(wake, buffer.baseAddress, 64) }
            if events[0].revents & Int16(POLLOUT) != 0 { connection.state.withLock { $0.flush() } }
            if events[0].revents & ~Int16(POLLOUT) != 0 {
                let count = recv(socket, buffer.baseAddress, buffer.count, 0)
                if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { return }
                guard count < 0 || deliver(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &decoder) else { return }
            }
            let late = TokenError(.timedOut, "the agent did not answer in time")
            for call in connection.state.withLock({ $0.expire(at: .now) }) { call.deliver(.failure(late)) }
        }
    }

    /// False when the stream makes no sense any more.
    private func deliver(_ bytes: UnsafeRawBufferPointer, _ decoder: inout FrameDecoder) -> Bool {
        decoder.append(bytes)
        do throws(TokenError) {
            while let frame = try decoder.next() {
                let reply = try Reply(decoding: frame)
                guard let call = connection.state.withLock({ $0.take(reply.id) }) else { continue }
                if case .failure(let error) = reply.body {
                    call.deliver(.failure(error))
                } else {
                    call.deliver(.success(reply.body))
                }
            }
            return true
        } catch {
            return false
        }
    }
}

internal import AgentSocket
internal import Foundation
internal import Synchronization

/// A socket that passes the bytes of its connections, one after another, to the agent's socket and back. It closes the first ones when
/// the agent has replied for the first time.
package final class SocketRelay: Sendable {
    private struct State {
        /// nil once it is closed: another test may have its number then.
        var listener: Int32?
        var connection: Int32?
        var hasEnded = false
    }

    private let lastingConnection = DispatchSemaphore(value: 0)
    private let state = Mutex(State())

    /// - Parameter closedConnections: the number of connections that are closed after the first reply.
    package init(at path: String, to agent: String, closedConnections: Int) throws {
        let listener = try UnixSocket.make()
        state.withLock { $0.listener = listener }
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
        guard isBound, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { [self] in
            var count = 0
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                count += 1
                let isOpen = state.withLock { state in
                    state.connection = peer
                    return !state.hasEnded
                }
                if count > closedConnections { lastingConnection.signal() }
                if isOpen { Self.pass(peer, to: agent, untilReply: count <= closedConnections) }
                state.withLock { $0.connection = nil }
                close(peer)
            }
            state.withLock { $0.listener = nil }
            close(listener)
        }
    }

    /// Blocks until there is a connection that is not closed after the first reply.
    package func waitForLastingConnection() { lastingConnection.wait() }

    /// Closes the connection that is open.
    package func closeConnection() {
        state.withLock { state in
            if let peer = state.connection { shutdown(peer, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends the thread, and the connection that is open.
    package func end() {
        state.withLock { state in
            state.hasEnded = true
            for socket in [state.connection, state.listener] {
                if let socket { shutdown(socket, Int32(SHUT_RDWR)) }
            }
        }
    }

    private static func pass(_ peer: Int32, to agent: String, untilReply: Bool) {
        guard case .connected(let upstream)? = try? UnixSocket.connect(to: agent) else { return }
        defer { close(upstream) }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var events = [peer, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&events, 2, -1) > 0 else { return }
            let isReply = events[1].revents != 0
            let (source, target) = isReply ? (upstream, peer) : (peer, upstream)
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0, send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count, !(isReply && untilReply) else {
                return
            }
        }
    }
}

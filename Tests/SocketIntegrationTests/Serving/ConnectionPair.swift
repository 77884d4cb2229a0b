internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentClient

/// The descriptors of a connection and of the pipe that wakes the thread.
struct ConnectionPair {
    let socket: OwnDescriptor
    let wake: OwnDescriptor
    private let peer: Int32
    private let wakeEnd: Int32

    static func with(_ body: (ConnectionPair) throws -> Void) throws {
        var (ends, pipes): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        try #require(socketpair(AF_UNIX, SocketType.stream, 0, &ends) == 0)
        try #require(pipe(&pipes) == 0)
        defer { for end in ends + pipes { close(end) } }
        try body(
            ConnectionPair(
                socket: OwnDescriptor(ends[0]), wake: OwnDescriptor(pipes[1]), peer: ends[1], wakeEnd: pipes[0]))
    }

    /// Has the other end of the socket read nothing any more.
    func refuseInput() { shutdown(peer, Int32(SHUT_RD)) }

    /// The bytes that have arrived at the other end of the socket.
    var sent: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(peer, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return Array(bytes.prefix(max(count, 0)))
    }

    /// The state of a connection whose thread waits for nothing.
    func connected() -> ConnectionState {
        var state = ConnectionState()
        _ = state.opened(socket: socket, wake: wake, hello: [], at: .now)
        _ = state.nextWait()
        return state
    }

    /// Reads what has woken the thread, as the thread does.
    func noticeWaking() {
        var bytes: (UInt64, UInt64) = (0, 0)
        if isWoken { _ = read(wakeEnd, &bytes, 16) }
    }

    /// Whether the thread was woken.
    var isWoken: Bool {
        var event = pollfd(fd: wakeEnd, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, 0) == 1
    }
}

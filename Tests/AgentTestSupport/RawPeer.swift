internal import AgentSocket
internal import Foundation
internal import TestSupport
package import TokenModel
package import TokenWire

/// A peer that writes arbitrary bytes, also those that a correct client never sends.
package final class RawPeer {
    private let descriptor: Int32
    private var decoder = FrameDecoder(limit: WireLimits.replyFrame)

    package init(_ socketPath: String) throws {
        while true {
            switch try UnixSocket.connect(to: socketPath) {
            case .connected(let descriptor):
                self.descriptor = descriptor
                return
            case .busy: poll(nil, 0, 1)
            case .nobody: throw TokenError(.agentUnavailable, "nobody listens at \(socketPath)")
            }
        }
    }

    deinit { close(descriptor) }

    /// A connection on which a request has been answered. Before that, the agent may not have identified the peer, and reads nothing.
    package static func answered(_ socketPath: String) throws -> RawPeer {
        let peer = try RawPeer(socketPath)
        try peer.write(GetStatus())
        _ = try peer.reply()
        return peer
    }

    /// Writes bytes unchanged; returns false if the agent has closed the connection.
    ///
    /// - Parameter outOfBand: whether the last byte is marked as urgent.
    @discardableResult
    package func write(_ bytes: [UInt8], outOfBand: Bool = false) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | (outOfBand ? Int32(MSG_OOB) : 0)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                wait(for: Int16(POLLOUT))
            } else {
                return false
            }
        }
        return true
    }

    /// Has the socket hold what one of Linux holds by default, whatever the default of this machine.
    package func useUsualBuffer() {
        // The kernel doubles it.
        var size: Int32 = 212_992 / 2
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Writes as many of the bytes as the socket has room for, and returns their number.
    package func writeAtOnce(_ bytes: some Collection<UInt8>) -> Int {
        let bytes = Array(bytes)
        return max(send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)), 0)
    }

    package func write(_ request: some WireRequest, id: UInt64 = 1) throws {
        write(try RequestFrame.encode(request, id: id))
    }

    /// Closes the sending side of the connection.
    package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Reads the next reply; nil if the agent has closed the connection.
    package func reply() throws -> ReplyFrame? {
        guard let bytes = try replyBytes() else { return nil }
        return try ReplyFrame(decoding: bytes)
    }

    /// Reads the frame of the next reply, without its length; nil if the agent has closed the connection.
    package func replyBytes() throws -> [UInt8]? {
        while true {
            if let frame = try decoder.next() { return Array(frame) }
            guard let bytes = read() else { return nil }
            bytes.withUnsafeBytes { decoder.append($0) }
        }
    }

    /// Sends a request and waits for its reply; nil if the agent has closed the connection. Throws the agent's failure.
    package func ask<Request: WireRequest>(_ request: Request) async throws -> Request.Reply? {
        try await offPool {
            try self.write(request)
            return try self.reply()?.reply(to: Request.self)
        }
    }

    /// Sends a request, and returns when it is in progress: when the next one of the connection is answered.
    package func begin(_ request: some WireRequest) async throws {
        try await offPool {
            try self.write(request, id: 1)
            try self.write(Hello(appName: "busy"), id: 2)
            _ = try self.reply()
        }
    }

    /// Whether bytes of a reply have arrived that no call has read.
    package var hasReceived: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// The number of bytes that have arrived and that no call has read: all of them, since no socket holds a megabyte.
    package var receivedCount: Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        return max(recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)), 0)
    }

    /// Whether the agent has closed the connection. Replies that no call has read remain.
    package var isClosed: Bool {
        // macOS reports that only if an event is awaited.
        var events = pollfd(fd: descriptor, events: Int16(POLLHUP), revents: 0)
        return poll(&events, 1, 0) > 0 && events.revents & Int16(POLLHUP) != 0
    }

    /// Waits until the agent closes the connection; replies are ignored.
    package func waitUntilClosed() {
        while read() != nil {}
    }

    /// Waits for bytes; nil at the end of the stream.
    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { return Array(buffer.prefix(count)) }
            guard count < 0, errno == EAGAIN else { return nil }
            wait(for: Int16(POLLIN))
        }
    }

    private func wait(for event: Int16) {
        var events = pollfd(fd: descriptor, events: event, revents: 0)
        poll(&events, 1, -1)
    }
}

internal import AgentSocket
internal import Foundation
internal import TestSupport
internal import TokenModel
package import TokenWire

/// A peer that writes what it likes: for everything a well-behaved client would never send.
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

    /// Writes bytes as they are; false when the agent has closed the connection.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
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

    package func write(_ request: Request) throws {
        write(try request.frame())
    }

    /// No more will be written.
    package func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next reply; nil when the agent has closed the connection.
    package func reply() throws -> Reply? {
        while true {
            if let frame = try decoder.next() { return try Reply(decoding: frame) }
            guard let bytes = read() else { return nil }
            bytes.withUnsafeBytes { decoder.append($0) }
        }
    }

    /// Asks, and waits for the reply.
    package func ask(_ body: Request.Body) async throws -> Reply.Body? {
        try await offPool {
            try self.write(Request(id: 1, body))
            return try self.reply()?.body
        }
    }

    /// Whether the agent closes the connection, whatever it still has to say.
    package func isClosedByAgent() -> Bool {
        while read() != nil {}
        return true
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

internal import AgentSocket
internal import Foundation
internal import Synchronization
internal import TokenModel
package import TokenWire

/// A process that answers requests in place of an agent: those of one connection, on a thread of its own.
package final class PretendedAgent: Sendable {
    /// nil once it is closed: another test may have its number then.
    private let listener: Mutex<Int32?>

    /// - Parameter reply: returns the frame of the reply to a request; nil for `hello`, which is answered as by an agent.
    package init(at path: String, _ reply: @escaping @Sendable (RequestFrame) throws -> [UInt8]?) throws {
        let listener = try UnixSocket.make()
        self.listener = Mutex(listener)
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
        guard isBound, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { [self] in
            let peer = accept(listener, nil, nil)
            try? Self.answer(peer, reply)
            close(peer)
            stopListening()
        }
    }

    /// Stops listening, and leaves the connection to its peer.
    package func end() { listener.withLock { if let listener = $0 { shutdown(listener, Int32(SHUT_RDWR)) } } }

    private func stopListening() {
        listener.withLock {
            if let listener = $0 { close(listener) }
            $0 = nil
        }
    }

    private static func answer(_ peer: Int32, _ reply: (RequestFrame) throws -> [UInt8]?) throws {
        var decoder = FrameDecoder(limit: WireLimits.requestFrame)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(peer, &buffer, buffer.count, 0), count > 0 {
            buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            while let bytes = try decoder.next() {
                let frame = try RequestFrame(decoding: Array(bytes))
                let answer = try reply(frame) ?? hello(frame)
                send(peer, answer, answer.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private static func hello(_ frame: RequestFrame) -> [UInt8] {
        let hello = Hello.Reply(protocolVersion: WireLimits.protocolVersion, agentVersion: "0", requests: [])
        return ReplyFrame.encode(.success(hello), to: Hello.self, id: frame.id)
    }
}

internal import AuditLog
internal import CAgentSystem
internal import NIOCore
internal import TokenWire

/// The last hit of a connection whose reply had been kept. Most requests repeat the one before them: what was found for it and for its
/// peer need not be found again.
///
/// | what is not repeated | holds until |
/// |---|---|
/// | the search for the reply | the reply is discarded: `KeptReplies.Hit` |
/// | the decision of the access policy | its rules change, which discards every reply: `AnswerChanges` |
/// | the search for the line of the audit log | the line is written: `AuditWriter.Line` |
// Unchecked, because a connection has it: it is used on the event loop only, which is that of `CacheOwner`.
final class LastHit: @unchecked Sendable {
    /// The peer of the connection, for which the access policy has decided about `hit`.
    let peer: ConnectedPeer
    /// The last hit; nil before the first one.
    var hit: KeptReplies.Hit?
    /// The line of the audit log in which the hit was recorded, and its repetitions are counted until it is written; nil if there is no
    /// audit log.
    var line: AuditWriter.Line?

    init(of peer: ConnectedPeer) {
        self.peer = peer
    }
}

/// A kept reply, with the IDs of the request that it answers now.
struct RepeatedReply: Sendable {
    private let reply: PackedReply
    private let request: SilentRequestLayout
    private let frame: ArraySlice<UInt8>

    /// - Parameter frame: the request's, without its length.
    init(_ reply: PackedReply, to request: SilentRequestLayout, _ frame: ArraySlice<UInt8>) {
        self.reply = reply
        self.request = request
        self.frame = frame
    }

    /// The length of the reply's frame.
    var length: Int { reply.length(replyingTo: request) }

    /// Writes the frame to a socket, without copying its secrets.
    ///
    /// - Returns: the number of bytes that the socket has taken; negative if it has failed.
    func send(to socket: NIOBSDSocket.Handle) -> Int {
        frame.withUnsafeBytes { frame in
            reply.withParts(replyingTo: request, frame) { agent_send_parts(socket, $0.baseAddress, $0.count) }
        }
    }

    /// The bytes of the frame from an offset on.
    func bytes(from offset: Int, _ allocator: ByteBufferAllocator) -> ByteBuffer {
        var bytes = allocator.buffer(capacity: length)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { target in
            frame.withUnsafeBytes { reply.write(replyingTo: request, $0, to: target) }
            return length
        }
        bytes.moveReaderIndex(forwardBy: offset)
        return bytes
    }
}

internal import CAgentSystem
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes the replies of a connection: by SwiftNIO, or straight to the socket if no reply waits for room there.
///
/// An extension and not a type of its own: `flush` may close the connection, and `channelInactive` reads `unsent` before `flush` returns.
/// If `unsent` were in a struct whose mutating method calls `flush`, these accesses would overlap, and Swift would end the process. An
/// object would cost an allocation for each connection.
extension PeerConnection {
    /// The bytes of replies after which the connection asks the socket what it has taken.
    static let uncheckedLimit = 32 * 1024

    func write(_ frame: [UInt8], _ context: ChannelHandlerContext) {
        write(context.channel.allocator.buffer(bytes: frame), context)
    }

    /// Writes a reply straight to the socket, with a descriptor. If replies before it wait for room in the socket, it is
    /// written without one.
    func write(_ frame: [UInt8], withDescriptor descriptor: Int32, _ context: ChannelHandlerContext) {
        let sent = sendAtOnce(context) {
            agent_send_with_descriptor($0, frame, frame.count, descriptor, Int32(MSG_DONTWAIT))
        }
        if sent < frame.count { write(Array(frame[sent...]), context) }
    }

    func write(_ frame: ByteBuffer, _ context: ChannelHandlerContext) {
        unchecked += frame.readableBytes
        context.write(wrapOutboundOut(frame), promise: nil)
    }

    /// Writes a reply with `send` straight to the socket, unless one before it waits for room there.
    ///
    /// - Returns: the number of bytes that the socket has taken.
    func sendAtOnce(_ context: ChannelHandlerContext, _ send: (NIOBSDSocket.Handle) -> Int) -> Int {
        if unchecked > 0 {
            context.flush()
            checkSent(context)
        }
        // Nil if the connection has been closed by the flush.
        guard unsent == 0 else { return 0 }
        return socket.map { max(send($0), 0) } ?? 0
    }

    /// Finds out whether the socket has taken everything. The check is too expensive for each hit, and so is made once
    /// for several replies.
    func checkSent(_ context: ChannelHandlerContext) {
        guard unsent == 0 else { return }
        unchecked = 0
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        guard waiting > 0 else { return }
        unsent = waiting
        usage.holds(replyBytes: waiting)
        // Completes after everything that was written before it.
        let sent = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
        sent.futureResult.assumeIsolated().whenSuccess { self.sentAll() }
    }

    private func sentAll() {
        usage.released(replyBytes: unsent)
        unsent = 0
        guard let context else { return }
        // A long reply that was written behind those may keep SwiftNIO from taking more until the socket has taken it, too.
        if unchecked >= Self.uncheckedLimit { checkSent(context) }
        closeIfDone(context)
        resume()
    }
}

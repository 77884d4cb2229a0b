package import NIOCore

/// Terminates TLS on a server's connection, before the handlers of plain bytes.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let connection: TLSConnection

    init(_ context: TLSContext) throws { connection = try context.makeConnection() }

    /// Creates a handler for one connection.
    ///
    /// - Throws: `TLSFilesUnusable`.
    package convenience init(_ files: TLSFiles) throws { try self.init(TLSContext(files)) }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try connection.receive(unwrapInboundIn(data))
            while true {
                let content = try connection.read()
                flushOutput(context)
                switch content {
                case .bytes(let bytes): context.fireChannelRead(wrapInboundOut(bytes))
                case .needsMore: return
                case .endOfStream: return context.close(promise: nil)
                }
            }
        } catch {
            // The output is the alert that names the failure.
            flushOutput(context)
            context.close(promise: nil)
        }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        do {
            try connection.write(unwrapOutboundIn(data))
        } catch {
            promise?.fail(error)
            return
        }
        guard let output = connection.drainOutput() else {
            promise?.succeed()
            return
        }
        context.write(wrapOutboundOut(output), promise: promise)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        connection.end()
        flushOutput(context)
        context.close(mode: mode, promise: promise)
    }

    private func flushOutput(_ context: ChannelHandlerContext) {
        guard let output = connection.drainOutput() else { return }
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }
}

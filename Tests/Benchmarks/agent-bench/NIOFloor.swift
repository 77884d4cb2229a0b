internal import Foundation
internal import NIOCore
internal import NIOPosix

/// A server of SwiftNIO that answers each request with the same bytes: what the agent's event loop costs by itself.
enum NIOFloor {
    /// Serves until the process is ended.
    static func run(socketPath: String, replyLength: Int) throws {
        let reply = ByteBuffer(
            bytes: withUnsafeBytes(of: UInt32(replyLength - headerLength).bigEndian, Array.init)
                + [UInt8](repeating: UInt8(ascii: "x"), count: replyLength - headerLength))
        let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FloorHandler(reply: reply))
                }
            }
            .bind(unixDomainSocketPath: socketPath, cleanupExistingSocketFile: true).wait()
        FileHandle.standardError.write(Data("listening on \(socketPath)\n".utf8))
        try listener.closeFuture.wait()
    }

    private static let headerLength = 4
}

/// The peers of a benchmark send each request in one piece.
final class FloorHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let reply: ByteBuffer

    init(reply: ByteBuffer) { self.reply = reply }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = unwrapInboundIn(data)
        guard request.getInteger(at: request.readerIndex, as: UInt32.self) == UInt32(request.readableBytes - 4) else {
            return context.close(promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(reply), promise: nil)
    }
}

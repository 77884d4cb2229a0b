internal import CAgentSystem
internal import NIOCore
internal import NIOPosix
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Makes an event loop call a function after it has looked at its other connections.
///
/// A task of the event loop that adds another task delays the connections until that one has run too. Bytes at a socket are an event like
/// those of the connections.
///
/// A pipe would do as well, but SwiftNIO's channel of a pipe is of other types than those of connections, whose first use was a fifth of the
/// agent's start.
final class LoopWakeup: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let sender: Int32
    private var handler: (() -> Void)?
    private var context: ChannelHandlerContext?

    private init(sender: Int32) {
        self.sender = sender
    }

    deinit { close(sender) }

    /// Opens a pair of sockets, one of which the event loop reads.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the process has no file descriptors left.
    static func open(on loop: any EventLoop) async throws -> NIOLoopBound<LoopWakeup> {
        let pair: SocketPair
        do throws(SystemError) {
            pair = try SocketPair()
        } catch {
            throw TokenError(
                .agentUnavailable, "cannot open a pair of sockets: \(error); raise the limit of open files")
        }
        return try await loop.flatSubmit {
            let wakeup = NIOLoopBound(LoopWakeup(sender: pair.second), eventLoop: loop)
            return ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(wakeup.value)
                    }
                }
                .withConnectedSocket(pair.first).map { _ in wakeup }
        }.get()
    }

    /// Sets the function that the event loop calls.
    func setHandler(_ handler: @escaping () -> Void) { self.handler = handler }

    /// Makes the event loop call the function once.
    func post() {
        guard context != nil else { return }
        var byte: UInt8 = 0
        _ = agent_send_with_descriptor(sender, &byte, 1, -1, 0)
    }

    /// Closes the sockets; nothing is called any more.
    func end() {
        handler = nil
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelInactive(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { handler?() }
}

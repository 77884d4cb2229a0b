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
    /// Sends a byte, and returns whether the system has taken it.
    private let send: (_ sender: Int32) -> Bool
    private var handler: (() -> Void)?
    private var context: ChannelHandlerContext?

    private init(sender: Int32, send: @escaping (_ sender: Int32) -> Bool) {
        (self.sender, self.send) = (sender, send)
    }

    deinit { close(sender) }

    /// Opens a pair of sockets, one of which the event loop reads.
    ///
    /// - Parameter send: sends a byte; false if the system has no memory for it.
    /// - Throws: `agentUnavailable` (-53004) if the process has no file descriptors left.
    static func open(
        on loop: any EventLoop, send: @escaping @Sendable (_ sender: Int32) -> Bool = { LoopWakeup.sendByte($0) }
    ) async throws -> NIOLoopBound<LoopWakeup> {
        let pair: SocketPair
        do throws(SystemError) {
            pair = try SocketPair()
        } catch {
            throw TokenError(
                .agentUnavailable, "cannot open a pair of sockets: \(error); raise the limit of open files")
        }
        return try await loop.flatSubmit {
            let wakeup = NIOLoopBound(LoopWakeup(sender: pair.second, send: send), eventLoop: loop)
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
    ///
    /// If the byte cannot be sent, a timer calls the function: whoever waits for the call posts no second time.
    func post() {
        guard let context, !send(sender) else { return }
        let wakeup = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.delay) { wakeup.value.callHandler() }
    }

    private func callHandler() { handler?() }

    private static func sendByte(_ sender: Int32) -> Bool {
        var byte: UInt8 = 0
        var count: Int
        repeat { count = agent_send_with_descriptor(sender, &byte, 1, -1, 0) } while count < 0 && errno == EINTR
        return count == 1
    }

    /// Long enough for the event loop to look at its connections before.
    private static let delay = TimeAmount.milliseconds(1)

    /// Closes the sockets; nothing is called any more.
    func end() {
        handler = nil
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelInactive(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { callHandler() }
}

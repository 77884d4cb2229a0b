internal import CAgentSystem
internal import NIOCore
internal import NIOPosix
internal import PosixFiles

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
/// A pipe would do as well, but SwiftNIO's channel of a pipe is of other types than those of connections, which are slow to make the first
/// time (docs/decisions/0056-what-a-start-costs.md). The sockets are opened at the first call, which few agents have.
///
/// Used on the event loop only.
final class LoopWakeup: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let loop: any EventLoop
    /// Sends a byte, and returns whether the system has taken it.
    private let send: (_ sender: Int32) -> Bool
    /// The function that the event loop calls; nil once nothing is called any more.
    private var handler: (() -> Void)?
    /// The end of the pair of sockets that is written; nil if it is not open.
    private var sender: Int32?
    private var context: ChannelHandlerContext?

    /// - Parameter send: sends a byte; false if the system has no memory for it.
    init(on loop: any EventLoop, send: @escaping (_ sender: Int32) -> Bool = LoopWakeup.sendByte) {
        (self.loop, self.send) = (loop, send)
    }

    deinit { closeSender() }

    /// Sets the function that the event loop calls.
    func setHandler(_ handler: @escaping () -> Void) { self.handler = handler }

    /// Makes the event loop call the function once.
    ///
    /// If no byte can be sent, a timer calls the function: whoever waits for the call posts no second time.
    func post() {
        if sender == nil { open() }
        guard let sender, send(sender) else { return callLater() }
    }

    /// Opens a pair of sockets, one of which the event loop reads, unless the process has no file descriptors left.
    private func open() {
        guard handler != nil, let pair = try? SocketPair() else { return }
        sender = pair.second
        let wakeup = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(wakeup.value)
                }
            }
            .withConnectedSocket(pair.first).whenFailure { _ in
                wakeup.value.closeSender()
                wakeup.value.callLater()
            }
    }

    private func callLater() {
        let wakeup = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.delay) { wakeup.value.callHandler() }
    }

    private func callHandler() { handler?() }

    private func closeSender() {
        if let sender { close(sender) }
        sender = nil
    }

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

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        // It may have ended before.
        if handler == nil { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { callHandler() }
}

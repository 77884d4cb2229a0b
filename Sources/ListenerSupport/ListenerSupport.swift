internal import Dispatch
package import NIOCore
package import NIOPosix

/// Pauses a listener for a moment when it cannot accept a connection: the process or the system has no file descriptors or no memory left.
///
/// The connection stays in the queue of the socket, so that the event loop would try again at once, for as long as nothing becomes free.
/// `AcceptBackoffHandler` of SwiftNIO delays only the next `read` of the channel, and after a failure the channel continues the present one.
package final class AcceptPause: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is IOError else { return context.fireErrorCaught(error) }
        let channel = context.channel
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        // A listener that has been closed meanwhile refuses the option.
        context.eventLoop.scheduleTask(in: Self.pause) {
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }

    /// Makes a listener pause after failures. Called on its event loop, before it listens.
    package static func add(to listener: any Channel) throws {
        try listener.pipeline.syncOperations.addHandler(AcceptPause())
    }

    /// Long beside the attempt to accept a connection, and short beside the time that an app waits for its reply.
    private static let pause = TimeAmount.milliseconds(100)
}

extension ServerBootstrap {
    /// Makes the listener pause when it cannot accept a connection. Replaces an earlier `serverChannelInitializer`.
    package func pausingAfterFailures() -> ServerBootstrap {
        serverChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try AcceptPause.add(to: channel) }
        }
    }
}

/// The end of the threads that listeners have.
///
/// SwiftNIO would call back on libdispatch's shared pool, from whose first work on an idle process is woken once a second.
extension EventLoopGroup {
    /// Ends the threads of the group, which have no connections, and calls `done` then, on another thread.
    package func end(_ done: @escaping @Sendable () -> Void) {
        shutdownGracefully(queue: DispatchQueue(label: "sso-agent.listeners")) { _ in done() }
    }

    /// Ends the threads of the group, which have no connections.
    package func end() async {
        await withCheckedContinuation { ended in end { ended.resume() } }
    }
}

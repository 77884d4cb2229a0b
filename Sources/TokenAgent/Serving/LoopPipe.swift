internal import NIOCore
internal import NIOPosix
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A pipe through which an event loop calls a function after it has looked at its other connections.
///
/// A task of the event loop that adds another task delays the connections until that one has run too. Bytes in a pipe are an event like
/// those of the connections.
final class LoopPipe: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let writeEnd: Int32
    private var handler: (() -> Void)?
    private var context: ChannelHandlerContext?

    private init(writeEnd: Int32) {
        self.writeEnd = writeEnd
    }

    deinit { close(writeEnd) }

    /// Opens a pipe on the event loop.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the process has no file descriptors left.
    static func open(on loop: any EventLoop) async throws -> NIOLoopBound<LoopPipe> {
        let ends: PipeEnds
        do throws(SystemError) {
            ends = try PipeEnds(isNonBlocking: true)
        } catch {
            throw TokenError(.agentUnavailable, "cannot open a pipe: \(error); raise the limit of open files")
        }
        return try await loop.flatSubmit {
            let pipe = LoopPipe(writeEnd: ends.write)
            let bound = NIOLoopBound(pipe, eventLoop: loop)
            return NIOPipeBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(bound.value)
                    }
                }
                .takingOwnershipOfDescriptor(input: ends.read).map { _ in bound }
        }.get()
    }

    /// Sets the function that the event loop calls.
    func setHandler(_ handler: @escaping () -> Void) { self.handler = handler }

    /// Makes the event loop call the function once.
    func post() {
        guard context != nil else { return }
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    /// Closes the pipe; nothing is called any more.
    func end() {
        handler = nil
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelInactive(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { handler?() }
}

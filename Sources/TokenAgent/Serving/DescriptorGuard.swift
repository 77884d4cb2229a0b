internal import CAgentSystem
internal import Dispatch
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Keeps the descriptors that a peer sends from being closed on the event loop, where the kernel does not refuse them.
///
/// The kernel closes them when the bytes that they came with are read, or when the connection is closed before that, and a TCP connection
/// among them may take as long to close as its sender wants. So a second descriptor keeps the connection open until SwiftNIO has closed its
/// own, and another thread closes this one; and no bytes are read that descriptors came with. Used on the event loop of the connection only.
final class DescriptorGuard {
    /// The second descriptor; nil after its end.
    private var connection: Int32?

    /// - Returns: nil if the kernel refuses descriptors for the connection.
    /// - Throws: if there are too many open files.
    init?(of channel: any Channel) throws {
        guard let socket = try Self.descriptor(of: channel), agent_may_have_descriptors(socket) != 0 else { return nil }
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw IOError(errnoCode: errno, reason: "fcntl") }
        connection = copy
        agent_pass_no_credentials(copy)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.dispose() }
    }

    /// Keeps the connections that wait at a listener, and the descriptors that were sent to them, from being closed on the event loop with
    /// it.
    static func guardListener(_ listener: any Channel, _ socket: Int32) {
        guard agent_may_have_descriptors(socket) != 0 else { return }
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        listener.closeFuture.whenComplete { _ in disposals.async { agent_close_impatiently(copy) } }
    }

    /// Withholds the bytes that descriptors came with from SwiftNIO. The connection ends at these bytes.
    ///
    /// - Parameter onDescriptors: called when descriptors have come, on the event loop.
    func guardReads(of channel: any Channel, onDescriptors: @escaping @Sendable () -> Void) throws {
        guard let connection else { return }
        let allocator = GuardedReads(socket: connection) {
            // Not within the read.
            channel.eventLoop.execute {
                guard channel.isActive else { return }
                onDescriptors()
                channel.close(promise: nil)
            }
        }
        try channel.syncOptions?.setOption(.recvAllocator, value: allocator)
    }

    /// Ends the guard of a peer that may hold the event loop up: it can end the agent as well.
    func end() {
        if let connection { close(connection) }
        connection = nil
    }

    private func dispose() {
        guard let connection else { return }
        self.connection = nil
        // The peer sees the end now, and can send nothing more.
        shutdown(connection, Int32(SHUT_RDWR))
        if agent_has_unread_bytes(connection) == 0 {
            close(connection)
        } else {
            Self.disposals.async { agent_close_impatiently(connection) }
        }
    }

    private static func descriptor(of channel: any Channel) throws -> Int32? {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
    }

    private static let disposals = DispatchQueue(label: "sso-agent.descriptors")
}

/// Provides buffers for as many bytes as wait before the first descriptor. SwiftNIO asks for one right before each read, and reads as much as
/// it has room for.
private struct GuardedReads: RecvByteBufferAllocator {
    let socket: Int32
    let onDescriptors: @Sendable () -> Void

    /// True, so that SwiftNIO uses no buffer twice.
    mutating func record(actualReadBytes: Int) -> Bool { true }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        var buffer = allocator.buffer(capacity: Self.size)
        var hasDescriptors: Int32 = 0
        let waiting = buffer.withUnsafeMutableWritableBytes {
            agent_peek(socket, $0.baseAddress, $0.count, &hasDescriptors)
        }
        if hasDescriptors != 0 { onDescriptors() }
        // Without room, a read is the end of the stream.
        let room = hasDescriptors == 0 ? max(waiting, 0) : 0
        buffer.moveWriterIndex(to: buffer.capacity - room)
        buffer.moveReaderIndex(to: buffer.capacity - room)
        return buffer
    }

    private static let size = 4096
}

internal import CServerTLS
internal import NIOCore

/// An OpenSSL context with a server's certificate chain and private key.
final class TLSContext: Sendable {
    // A C pointer is not Sendable. OpenSSL allows connections to be made from one context on several threads.
    private nonisolated(unsafe) let context: OpaquePointer

    /// - Throws: `TLSFilesUnusable`.
    init(_ files: TLSFiles) throws(TLSFilesUnusable) {
        var reason = [CChar](repeating: 0, count: 256)
        let context = reason.withUnsafeMutableBufferPointer { reason in
            server_tls_context_create(files.certificateChain, files.privateKey, reason.baseAddress, reason.count)
        }
        guard let context else {
            let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            throw TLSFilesUnusable(files: files, reason: String(decoding: text, as: UTF8.self))
        }
        self.context = context
    }

    deinit { server_tls_context_destroy(context) }

    /// Creates the server's side of one TLS connection, to be used on one thread at a time.
    func makeConnection() throws -> TLSConnection { try TLSConnection(server_tls_create(context)) }
}

/// TLS files that cannot be used, with the reason.
package struct TLSFilesUnusable: Error, Sendable, CustomStringConvertible {
    let files: TLSFiles
    let reason: String

    package var description: String {
        "the certificate \(files.certificateChain) and the key \(files.privateKey) cannot be used: \(reason)"
    }
}

/// The server's side of one TLS connection, from encrypted to plain bytes and back, without I/O.
struct TLSConnection: ~Copyable {
    struct OutOfMemory: Error {}
    /// The peer broke the protocol, or does not trust the certificate.
    struct Failed: Error {}

    /// The result of a read.
    enum Content {
        case bytes(ByteBuffer)
        case needsMore
        case endOfStream
    }

    private let session: OpaquePointer

    fileprivate init(_ session: OpaquePointer?) throws(OutOfMemory) {
        guard let session else { throw OutOfMemory() }
        self.session = session
    }

    deinit { server_tls_destroy(session) }

    /// Accepts encrypted bytes from the peer.
    func receive(_ bytes: ByteBuffer) throws(OutOfMemory) {
        let isTaken = bytes.withUnsafeReadableBytes { server_tls_receive(session, $0.baseAddress, $0.count) }
        guard isTaken else { throw OutOfMemory() }
    }

    /// Completes the handshake if necessary, and decrypts received bytes.
    func read() throws(Failed) -> Content {
        var buffer = ByteBuffer()
        var end = SERVER_TLS_BYTES
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 16 << 10) { room in
            var count = 0
            end = server_tls_read(session, room.baseAddress, room.count, &count)
            return count
        }
        switch end {
        case SERVER_TLS_BYTES: return .bytes(buffer)
        case SERVER_TLS_NEEDS_MORE: return .needsMore
        case SERVER_TLS_CLOSED: return .endOfStream
        default: throw Failed()
        }
    }

    /// Encrypts plain bytes for the peer.
    func write(_ bytes: ByteBuffer) throws(Failed) {
        let isTaken = bytes.withUnsafeReadableBytes { server_tls_write(session, $0.baseAddress, $0.count) }
        guard isTaken else { throw Failed() }
    }

    /// Sends the peer a `close_notify` alert.
    func end() { server_tls_end(session) }

    /// Removes and returns the encrypted bytes to send; nil if there are none.
    func drainOutput() -> ByteBuffer? {
        let count = server_tls_pending(session)
        guard count > 0 else { return nil }
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            server_tls_take(session, room.baseAddress, room.count)
        }
        return buffer
    }
}

internal import CServerTLS
internal import NIOCore

/// A certificate chain and its key, ready for connections.
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

    /// One connection's half of TLS. Used on one thread at a time.
    func makeConnection() throws -> TLSConnection { try TLSConnection(server_tls_create(context)) }
}

/// Why a server cannot use its TLS files.
package struct TLSFilesUnusable: Error, Sendable, CustomStringConvertible {
    let files: TLSFiles
    let reason: String

    package var description: String {
        "the certificate \(files.certificateChain) and the key \(files.privateKey) cannot be used: \(reason)"
    }
}

/// TLS between bytes in memory: encrypted bytes on one side, plain bytes on the other.
struct TLSConnection: ~Copyable {
    struct OutOfMemory: Error {}
    /// The peer broke the protocol, or does not trust the certificate.
    struct Failed: Error {}

    /// What can be read now.
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

    /// Takes encrypted bytes of the peer.
    func receive(_ bytes: ByteBuffer) throws(OutOfMemory) {
        let isTaken = bytes.withUnsafeReadableBytes { server_tls_receive(session, $0.baseAddress, $0.count) }
        guard isTaken else { throw OutOfMemory() }
    }

    /// Decrypts what has been received; goes on with the handshake first.
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

    /// Tells the peer that nothing follows.
    func end() { server_tls_end(session) }

    /// The encrypted bytes that are to be sent; nil if there are none.
    func takeOutput() -> ByteBuffer? {
        let count = server_tls_pending(session)
        guard count > 0 else { return nil }
        var buffer = ByteBuffer()
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            server_tls_take(session, room.baseAddress, room.count)
        }
        return buffer
    }
}

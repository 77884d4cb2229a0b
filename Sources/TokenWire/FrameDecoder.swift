package import TokenModel

/// Splits a byte stream into frames: a length of four bytes, big-endian, and that number of bytes.
///
/// After an error the position of the next frame is unknown, and the connection has to be closed.
package struct FrameDecoder: Sendable {
    package static let headerLength = 4

    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameter limit: the maximum length of a frame, in bytes; a longer frame is refused when its length has arrived.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether a frame has arrived in part.
    package var isInsideFrame: Bool { start < buffer.count }

    /// The number of received bytes that no frame has taken yet.
    package var waitingBytes: Int { buffer.count - start }

    /// Whether `next()` returns a frame, or throws.
    package var hasFrame: Bool {
        guard let length = nextLength else { return false }
        return length == 0 || length > limit || waitingBytes - Self.headerLength >= length
    }

    /// Adds received bytes, which may contain any number of frames and parts of frames.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        // The buffer is compacted only when more than half of it has been consumed, so that few bytes are moved.
        if start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame, without its length; nil if more bytes are needed.
    ///
    /// - Throws: `malformedMessage` (-53001) for a frame of length 0, `frameTooLarge` (-53002) for a frame over the limit; both as
    ///   soon as the length has arrived.
    package mutating func next() throws(TokenError) -> ArraySlice<UInt8>? {
        guard let length = nextLength else { return nil }
        guard length > 0 else { throw TokenError(.malformedMessage, "frame of length 0") }
        guard length <= limit else {
            throw TokenError(.frameTooLarge, "frame of \(length) bytes, limit \(limit)")
        }
        guard waitingBytes - Self.headerLength >= length else { return nil }
        let first = start + Self.headerLength
        let frame = buffer[first..<first + length]
        start = first + length
        // A connection without a frame keeps little memory.
        if start == buffer.count, buffer.capacity > Self.keptCapacity { (buffer, start) = ([], 0) }
        return frame
    }

    /// The frame, without its length, that the bytes are; nil if they are less or more than one reply.
    package static func onlyFrame(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count > headerLength, bytes.count <= headerLength + WireLimits.replyFrame else { return nil }
        let length = bytes.loadUnaligned(as: UInt32.self).bigEndian
        guard Int(length) == bytes.count - headerLength else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[headerLength...])
    }

    /// The length of the next frame; nil if it has not arrived yet.
    private var nextLength: Int? {
        guard waitingBytes >= Self.headerLength else { return nil }
        return buffer[start..<start + Self.headerLength].reduce(0) { $0 << 8 | Int($1) }
    }

    private static let keptCapacity = 16 * 1024
}

package import TokenModel

/// Cuts a byte stream into frames: four bytes of length, big-endian, then that many bytes.
///
/// It owns no socket. After it has thrown, the stream cannot be trusted any more: close it.
package struct FrameDecoder: Sendable {
    package static let headerLength = 4

    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0

    /// - Parameter limit: the longest frame to accept, in bytes; longer ones are refused at their header.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether part of a frame has arrived and the rest has not.
    package var isInsideFrame: Bool { start < buffer.count }

    /// Adds bytes as they arrived, however the stream was cut.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        // Only when most of the buffer has been handed out, so that fewer bytes are moved than were.
        if start > buffer.count / 2 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame, or nil until more bytes arrive.
    ///
    /// - Throws: `malformedMessage` (-53001) for a frame of length 0, `frameTooLarge` (-53002) over the limit; both
    ///   before any byte of the frame's body is waited for.
    package mutating func next() throws(TokenError) -> ArraySlice<UInt8>? {
        let waiting = buffer[start...]
        guard waiting.count >= Self.headerLength else { return nil }
        let length = waiting.prefix(Self.headerLength).reduce(0) { $0 << 8 | Int($1) }
        guard length > 0 else { throw TokenError(.malformedMessage, "frame of length 0") }
        guard length <= limit else {
            throw TokenError(.frameTooLarge, "frame of \(length) bytes, limit \(limit)")
        }
        guard waiting.count - Self.headerLength >= length else { return nil }
        start += Self.headerLength + length
        return waiting.dropFirst(Self.headerLength).prefix(length)
    }
}

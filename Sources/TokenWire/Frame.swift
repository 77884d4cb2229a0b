internal import CProtobufC

/// A message in its frame.
enum Frame {
    /// Packs a message behind its length; nil if it is longer than `limit` bytes.
    static func pack(_ message: UnsafePointer<ProtobufCMessage>, limit: Int) -> [UInt8]? {
        let length = protobuf_c_message_get_packed_size(message)
        guard length <= limit else { return nil }
        let header = FrameDecoder.headerLength
        return [UInt8](unsafeUninitializedCapacity: header + length) { buffer, count in
            for index in 0..<header {
                buffer[index] = UInt8(truncatingIfNeeded: length >> (8 * (header - 1 - index)))
            }
            if let base = buffer.baseAddress { protobuf_c_message_pack(message, base + header) }
            count = header + length
        }
    }
}

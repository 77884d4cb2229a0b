/// Reads encoded messages field by field, without decoding their values.
///
/// The encoding: https://protobuf.dev/programming-guides/encoding/. Every method returns nil at bytes that it does not know, and never
/// reads beyond the end.
struct WireCursor {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte.
    private(set) var offset: Int
    /// The offset of the end of the message.
    let end: Int

    /// - Parameter range: the message, which has to be within `bytes`.
    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.bytes = bytes
        offset = range.lowerBound
        end = min(range.upperBound, bytes.count)
    }

    var isAtEnd: Bool { offset >= end }

    /// Reads a number of up to 63 bits.
    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard offset < end else { return nil }
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// Reads the field's number and the type of its encoding.
    mutating func tag() -> (field: UInt64, type: UInt64)? {
        guard let tag = number() else { return nil }
        return (tag >> 3, tag & 7)
    }

    /// Reads the length of a text or of a message, and passes it.
    mutating func passContent() -> Range<Int>? {
        guard let length = number(), length <= UInt64(end - offset) else { return nil }
        let start = offset
        offset += Int(length)
        return start..<offset
    }

    /// Passes the value of a field with this type of encoding; nil for types that this protocol does not use.
    mutating func pass(_ type: UInt64) -> Void? {
        switch type {
        case Self.numeric: number().map { _ in }
        case Self.lengthDelimited: passContent().map { _ in }
        default: nil
        }
    }

    /// The number of bytes of an encoded number.
    static func length(of number: UInt64) -> Int {
        max((UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7, 1)
    }

    /// The type of numbers of variable length.
    static let numeric: UInt64 = 0
    /// The type of texts and messages.
    static let lengthDelimited: UInt64 = 2
}

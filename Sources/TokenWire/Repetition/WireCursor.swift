/// Reads encoded messages field by field, without decoding their values.
///
/// The encoding: https://protobuf.dev/programming-guides/encoding/. No method reads beyond the end, whatever the bytes are.
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

    /// Reads a number of up to 63 bits; nil if there is none.
    mutating func number() -> UInt64? { number(bits: 63) }

    private mutating func number(bits: UInt64) -> UInt64? {
        var (value, shift) = (UInt64(0), UInt64(0))
        while shift < bits, offset < end {
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        return nil
    }

    /// Reads the field's number and the type of its encoding.
    mutating func tag() -> (field: UInt64, type: UInt64)? {
        guard let tag = rawTag() else { return nil }
        return (tag >> 3, tag & Self.typeMask)
    }

    /// Reads the field's number, times 8, with the type of its encoding.
    mutating func rawTag() -> UInt64? { number(bits: Self.shortBits) }

    /// Reads the tag of the next field in the order of agent.proto. Nil at the end of the message, and also if the
    /// field is malformed, repeats one or is out of order: such a field is not consumed, so that the cursor is not at
    /// the end.
    ///
    /// - Parameter last: the tag of the field before, 0 at first.
    mutating func nextTag(after last: inout UInt64) -> UInt64? {
        let before = self
        guard let tag = rawTag(), tag >> 3 > last >> 3 else {
            self = before
            return nil
        }
        last = tag
        return tag
    }

    /// Passes the fields with this tag that follow, which are texts.
    ///
    /// - Returns: false if one of them is malformed.
    mutating func passRepetitions(of tag: UInt64) -> Bool {
        while true {
            let before = self
            guard !isAtEnd else { return true }
            guard let next = rawTag() else { return false }
            guard next == tag else {
                self = before
                return true
            }
            guard passContent() != nil else { return false }
        }
    }

    /// Reads the length of a text or of a message, and passes it.
    mutating func passContent() -> Range<Int>? {
        guard let length = number(bits: Self.shortBits), length <= UInt64(end - offset) else { return nil }
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

    /// The bits of tags and lengths, in four bytes: protobuf-c reads at most five.
    private static let shortBits: UInt64 = 28
    /// The bits of a tag that are the type of its field's encoding.
    static let typeMask: UInt64 = 7
    /// The type of numbers of variable length.
    static let numeric: UInt64 = 0
    /// The type of texts and messages.
    static let lengthDelimited: UInt64 = 2
}

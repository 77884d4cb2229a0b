/// Encodes protocol buffers without the encoder, so that tests can send malformed messages
/// (https://protobuf.dev/programming-guides/encoding/).
enum WireBytes {
    /// A field of wire type 0.
    static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] {
        varint(number << 3) + varint(value)
    }

    /// A field of wire type 2.
    static func field(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(content.count)) + content
    }

    /// A field of wire type 2.
    static func field(_ number: UInt64, _ text: String) -> [UInt8] {
        field(number, Array(text.utf8))
    }

    static func repeated(_ count: Int, _ field: [UInt8]) -> [UInt8] {
        Array(repeatElement(field, count: count).joined())
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

extension [UInt8] {
    /// Lower-case hexadecimal, without spaces.
    var hex: String { map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined() }

    /// Decodes hexadecimal text, ignoring white space; nil if it is malformed.
    init?(hex text: some StringProtocol) {
        let digits = text.filter { !$0.isWhitespace }.map(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap(\.self)
        self = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

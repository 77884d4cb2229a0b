/// Numbers and texts as bytes, most significant byte first.
extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// With its length in front, so that no two lists of texts look the same.
    mutating func append(counted bytes: some Collection<UInt8>) {
        append(number: UInt32(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Takes bytes apart from the front; nil where there are not enough.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        guard let bytes = bytes(MemoryLayout<Number>.size) else { return nil }
        return bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func counted() -> ArraySlice<UInt8>? {
        number(UInt32.self).flatMap { bytes(Int($0)) }
    }
}

internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Encodes numbers and texts, most significant byte first.
extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends the length and then the bytes, so that different lists of texts have different encodings.
    mutating func append(counted bytes: some Collection<UInt8>) {
        append(number: UInt32(bytes.count))
        append(contentsOf: bytes)
    }
}

extension Sequence<UInt8> {
    /// The number that the bytes are, most significant byte first.
    func number<Number: FixedWidthInteger>(as _: Number.Type = Number.self) -> Number {
        reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
}

/// Decodes numbers and texts from the front; the methods return nil if there are not enough bytes.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        bytes(MemoryLayout<Number>.size)?.number()
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

extension Data {
    /// Overwrites the bytes with zeros. The data must not share its storage with a copy.
    mutating func wipe() { withUnsafeMutableBytes { wipeMemory($0) } }
}

/// Replaces the type of the module `Crypto` in fuzzing, by the hash function of the standard library. Its values differ from
/// run to run.
public struct SHA256 {
    /// The stand-in for a digest.
    public typealias Digest = [UInt8]

    private var hasher = Hasher()

    /// Creates an empty hash.
    public init() {}

    /// Adds bytes.
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { hasher.combine(bytes: bufferPointer) }

    /// The hash of the bytes so far.
    public func finalize() -> Digest { withUnsafeBytes(of: hasher.finalize()) { Array($0) } }

    /// The hash of a sequence of bytes.
    public static func hash(data: some Sequence<UInt8>) -> Digest {
        var hash = SHA256()
        Array(data).withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize()
    }
}

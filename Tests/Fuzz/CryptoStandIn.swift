public import Foundation

/// Replaces the module `Crypto` in fuzzing. SHA-256 is the real one, so that hashes in the corpus are right; everything else has the same
/// interface and the same properties as far as readers depend on them, and protects nothing.
public struct SHA256 {
    /// The stand-in for a digest.
    public typealias Digest = [UInt8]

    private var bytes: [UInt8] = []

    /// Creates an empty hash.
    public init() {}

    /// Adds bytes.
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) { bytes += bufferPointer }

    /// The hash of the bytes so far.
    public func finalize() -> Digest { Self.digest(of: bytes) }

    /// The hash of a sequence of bytes.
    public static func hash(data: some Sequence<UInt8>) -> Digest { digest(of: Array(data)) }

    /// FIPS 180-4 section 6.2.
    private static func digest(of message: [UInt8]) -> Digest {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        padded += withUnsafeBytes(of: UInt64(message.count * 8).bigEndian) { Array($0) }
        var state = initial
        for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<start + 64], into: &state) }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = [UInt32](repeating: 0, count: 64)
        for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let one = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
            let two = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
            words[index] = words[index - 16] &+ one &+ words[index - 7] &+ two
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let sum = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let one = h &+ sum &+ (e & f ^ ~e & g) &+ constants[index] &+ words[index]
            let two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e) = (g, f, e, d &+ one)
            (d, c, b, a) = (c, b, a, one &+ two)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ word }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }

    private static let primes: [Int] = {
        var primes: [Int] = []
        var number = 2
        while primes.count < 64 {
            if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
            number += 1
        }
        return primes
    }()

    /// The first 32 bits of the fractions of the primes' square roots and cube roots.
    private static let initial = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    private static let constants = primes.map { fraction(cbrt(Double($0))) }

    private static func fraction(_ root: Double) -> UInt32 { UInt32((root - root.rounded(.down)) * 4_294_967_296) }
}

/// A key.
public struct SymmetricKey: Sendable, Equatable {
    /// The size of a key.
    public struct Size: Sendable {
        /// In bytes.
        let count: Int
        /// 16 bytes.
        public static let bits128 = Size(count: 16)
        /// 32 bytes.
        public static let bits256 = Size(count: 32)
    }

    let bytes: [UInt8]

    /// A random key.
    public init(size: Size) { bytes = (0..<size.count).map { _ in .random(in: 0...255) } }

    /// A key of these bytes.
    public init(data: some ContiguousBytes) { bytes = data.withUnsafeBytes { Array($0) } }

    /// Passes the bytes to `body`.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

/// A keyed hash, which is the hash of the key and the bytes.
public enum HMAC<Hash> {
    /// The hash of bytes.
    public static func authenticationCode(for data: some Sequence<UInt8>, using key: SymmetricKey) -> [UInt8] {
        SHA256.hash(data: key.bytes + Array(data))
    }
}

/// A derivation of keys.
public enum HKDF<Hash> {
    /// The hash of the key and of what it is for.
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey, info: some Sequence<UInt8>, outputByteCount: Int
    ) -> SymmetricKey {
        let hash = SHA256.hash(data: inputKeyMaterial.bytes + Array(info))
        return SymmetricKey(data: Array(hash.prefix(outputByteCount)))
    }

    /// The same with a salt.
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey, salt: some Sequence<UInt8>, info: some Sequence<UInt8>, outputByteCount: Int
    ) -> SymmetricKey {
        deriveKey(inputKeyMaterial: inputKeyMaterial, info: Array(salt) + Array(info), outputByteCount: outputByteCount)
    }
}

/// The errors of the module.
public enum CryptoKitError: Error {
    /// A parameter has the wrong size.
    case incorrectParameterSize
    /// The tag is not that of key and content.
    case authenticationFailure
}

/// An authenticated encryption that does not encrypt: the tag is a hash of key, associated data and content.
public enum AES {
    /// The mode.
    public enum GCM {
        /// Nonce, content and tag.
        public struct SealedBox {
            /// The parts, one after the other.
            public let combined: Data?

            /// - Throws: if there are not enough bytes for a nonce and a tag.
            public init(combined: some DataProtocol) throws {
                guard combined.count >= 28 else { throw CryptoKitError.incorrectParameterSize }
                self.combined = Data(combined)
            }
        }

        /// Adds a nonce of zeros and the tag.
        public static func seal(
            _ content: some DataProtocol, using key: SymmetricKey, authenticating data: some DataProtocol
        ) throws -> SealedBox {
            let (content, nonce) = (Array(content), [UInt8](repeating: 0, count: 12))
            return try SealedBox(combined: nonce + content + tag(content, nonce, key, Array(data)))
        }

        /// - Throws: if the tag is wrong.
        public static func open(
            _ box: SealedBox, using key: SymmetricKey, authenticating data: some DataProtocol
        ) throws -> Data {
            let bytes = Array(box.combined ?? Data())
            let (nonce, content) = (Array(bytes.prefix(12)), Array(bytes.dropFirst(12).dropLast(16)))
            guard tag(content, nonce, key, Array(data)).elementsEqual(bytes.suffix(16)) else {
                throw CryptoKitError.authenticationFailure
            }
            return Data(content)
        }

        private static func tag(_ content: [UInt8], _ nonce: [UInt8], _ key: SymmetricKey, _ data: [UInt8]) -> [UInt8] {
            let length = withUnsafeBytes(of: data.count) { Array($0) }
            return Array(SHA256.hash(data: key.bytes + length + data + nonce + content).prefix(16))
        }
    }
}

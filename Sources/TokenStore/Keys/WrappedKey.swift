internal import Crypto
internal import CryptoExtras
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The store's key, encrypted with the key of a key source.
struct WrappedKey: Sendable, Equatable {
    /// Increases with every change of the source.
    let generation: Int64
    let source: KeySource
    /// The parameters of the passphrase's derivation; nil for other sources.
    let scrypt: Scrypt?
    let envelope: Envelope

    init(
        _ keys: StoreKeys, generation: Int64, source: KeySource, scrypt: Scrypt?, with wrapping: SymmetricKey
    ) throws(TokenError) {
        var head: [UInt8] = [0]
        head.append(number: generation)
        head.append(UInt8(source.rawValue))
        if let scrypt { head += scrypt.bytes }
        head[0] = UInt8(head.count)
        self.generation = generation
        self.source = source
        self.scrypt = scrypt
        envelope = try keys.dataKey.withBytes { content in
            Result { () throws(TokenError) in try Envelope(.key, head: head, content: content, with: wrapping) }
        }.get()
    }

    /// Nil if the envelope is not a wrapped key, or its source is not known.
    init?(_ envelope: Envelope) {
        var reader = ByteReader(envelope.head)
        guard envelope.kind == .key, reader.number(UInt8.self) != nil, let generation = reader.number(Int64.self),
            let source = reader.number(UInt8.self).flatMap({ KeySource(rawValue: Int32($0)) })
        else { return nil }
        scrypt = Scrypt(&reader)
        guard source != .passphrase || scrypt != nil else { return nil }
        self.generation = generation
        self.source = source
        self.envelope = envelope
    }

    /// Decrypts the store's key; nil if the wrapping key is wrong.
    func open(with wrapping: SymmetricKey) -> StoreKeys? {
        guard let key = envelope.open(with: wrapping, { Secret(bytes: $0) }), key.count == 32 else { return nil }
        return StoreKeys(dataKey: key)
    }
}

/// The derivation of a key from a passphrase (RFC 7914). It is slow, so that guessing the passphrase of a stolen file is
/// slow too.
struct Scrypt: Sendable, Equatable {
    /// The base-two logarithm of the cost; 16 needs 64 MiB and some tenths of a second.
    let logCost: UInt8
    let blockSize: UInt8
    let parallelism: UInt8
    let salt: [UInt8]

    /// The parameters for a new passphrase, with a random salt.
    static func random() -> Scrypt {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Scrypt(logCost: 16, blockSize: 8, parallelism: 1, salt: salt)
    }

    private init(logCost: UInt8, blockSize: UInt8, parallelism: UInt8, salt: [UInt8]) {
        self.logCost = logCost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// Nil if the parameters are incomplete, or larger than any that this package writes could be.
    init?(_ reader: inout ByteReader) {
        guard let logCost = reader.number(UInt8.self), let blockSize = reader.number(UInt8.self),
            let parallelism = reader.number(UInt8.self), let salt = reader.bytes(16),
            (10...20).contains(logCost), (1...16).contains(blockSize), (1...4).contains(parallelism),
            128 * Int(blockSize) << Int(logCost) <= Self.mostMemory
        else { return nil }
        self.init(logCost: logCost, blockSize: blockSize, parallelism: parallelism, salt: Array(salt))
    }

    /// In bytes; four times that of `random`.
    private static let mostMemory = 256 << 20

    var bytes: [UInt8] { [logCost, blockSize, parallelism] + salt }

    func key(from passphrase: Secret) throws(TokenError) -> SymmetricKey {
        let key = passphrase.withBytes { bytes in
            try? KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << Int(logCost), blockSize: Int(blockSize),
                parallelism: Int(parallelism))
        }
        guard let key else {
            throw TokenError(
                .storeUnavailable, "no key could be derived from the passphrase; check that there is enough memory")
        }
        return key
    }
}

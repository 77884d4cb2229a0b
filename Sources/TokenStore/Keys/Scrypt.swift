internal import Crypto
internal import CryptoExtras
internal import TokenModel

/// The derivation of a key from a passphrase (RFC 7914). It is slow, so that guessing the passphrase of a stolen file is
/// slow too.
///
/// The parameters are stored with the wrapped key. A key of outdated parameters is replaced when the passphrase is entered.
struct Scrypt: Sendable, Equatable {
    /// The base-two logarithm of the cost; with a block size of 8, 17 needs 128 MiB.
    let logCost: UInt8
    let blockSize: UInt8
    let parallelism: UInt8
    let salt: [UInt8]

    /// The parameters for a new passphrase, with a random salt: the minimum of OWASP's Password Storage Cheat Sheet.
    static func random() -> Scrypt {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Scrypt(logCost: 17, blockSize: 8, parallelism: 1, salt: salt)
    }

    init(logCost: UInt8, blockSize: UInt8, parallelism: UInt8, salt: [UInt8]) {
        self.logCost = logCost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// Returns nil if the parameters are incomplete, or need more than 256 MiB or twice the time of a new passphrase: they are from a
    /// file that anybody may have written.
    init?(_ reader: inout ByteReader) {
        guard let logCost = reader.number(UInt8.self), let blockSize = reader.number(UInt8.self),
            let parallelism = reader.number(UInt8.self), let salt = reader.bytes(16),
            (10...18).contains(logCost), (1...8).contains(blockSize), parallelism == 1
        else { return nil }
        self.init(logCost: logCost, blockSize: blockSize, parallelism: parallelism, salt: Array(salt))
    }

    /// Whether a new passphrase gets costlier parameters than these.
    var isOutdated: Bool {
        let current = Self.random()
        return logCost < current.logCost || blockSize < current.blockSize
    }

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

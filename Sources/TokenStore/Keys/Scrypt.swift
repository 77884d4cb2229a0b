internal import Crypto
internal import CryptoExtras
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How a passphrase becomes a key (RFC 7914): slowly, once at each start, so that guessing at a stolen file is slow too.
struct Scrypt: Sendable, Equatable {
    /// The base-two logarithm of the cost; 16 takes 64 MiB and some tenths of a second.
    let logCost: UInt8
    let blockSize: UInt8
    let parallelism: UInt8
    let salt: [UInt8]

    /// What a new passphrase is stretched with.
    static func fresh() -> Scrypt {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        return Scrypt(logCost: 16, blockSize: 8, parallelism: 1, salt: salt)
    }

    private init(logCost: UInt8, blockSize: UInt8, parallelism: UInt8, salt: [UInt8]) {
        self.logCost = logCost
        self.blockSize = blockSize
        self.parallelism = parallelism
        self.salt = salt
    }

    /// Nil when they are not there, or ask for more than a damaged file may make us spend.
    init?(_ reader: inout ByteReader) {
        guard let logCost = reader.number(UInt8.self), let blockSize = reader.number(UInt8.self),
            let parallelism = reader.number(UInt8.self), let salt = reader.bytes(16),
            (10...20).contains(logCost), (1...16).contains(blockSize), (1...4).contains(parallelism)
        else { return nil }
        self.init(logCost: logCost, blockSize: blockSize, parallelism: parallelism, salt: Array(salt))
    }

    var bytes: [UInt8] { [logCost, blockSize, parallelism] + salt }

    func key(from passphrase: Secret) throws(TokenError) -> SymmetricKey {
        let key = passphrase.withBytes { bytes in
            try? KDF.Scrypt.deriveKey(
                from: bytes, salt: salt, outputByteCount: 32, rounds: 1 << Int(logCost), blockSize: Int(blockSize),
                parallelism: Int(parallelism))
        }
        guard let key else {
            throw TokenError(.storeUnavailable, "the passphrase could not be stretched; is there enough memory?")
        }
        return key
    }
}

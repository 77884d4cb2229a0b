public import Crypto
public import Foundation

/// Replaces the module `CryptoExtras` in fuzzing: no passphrase is derived there.
public enum KDF {
    /// The derivation that takes memory and time.
    public enum Scrypt {
        /// A hash of passphrase and salt.
        public static func deriveKey(
            from input: some DataProtocol, salt: some DataProtocol, outputByteCount: Int, rounds: Int, blockSize: Int,
            parallelism: Int
        ) throws -> SymmetricKey {
            SymmetricKey(data: Array(SHA256.hash(data: Array(input) + Array(salt)).prefix(outputByteCount)))
        }
    }
}

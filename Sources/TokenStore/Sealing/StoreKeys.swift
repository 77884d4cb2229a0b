internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The random key of the store, from which one key for each purpose is derived.
///
/// A change of the store's key makes a new one, under which every record is sealed again.
struct StoreKeys: Sendable {
    let dataKey: Secret

    static func random() -> StoreKeys {
        StoreKeys(dataKey: SymmetricKey(size: .bits256).withUnsafeBytes { Secret(bytes: $0) })
    }

    /// Derives the keys. They are kept only for the time of a load or a commit.
    func derived() -> Derived {
        Derived(
            sealing: derive("sealing"), naming: derive("naming"), digest: derive("digest"), owners: derive("owners"))
    }

    struct Derived: Sendable {
        /// Encrypts records and the state.
        let sealing: SymmetricKey
        /// Hashes the key of a record to its identity.
        let naming: SymmetricKey
        /// Hashes a record for the digest.
        let digest: SymmetricKey
        /// Hashes the account that a record belongs to.
        let owners: SymmetricKey
    }

    private func derive(_ purpose: String) -> SymmetricKey {
        let input = dataKey.withBytes { SymmetricKey(data: $0) }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, info: Data("sso-agent store 2 \(purpose)".utf8), outputByteCount: 32)
    }
}

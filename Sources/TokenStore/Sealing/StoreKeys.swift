internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The store's one random key, and the keys that follow from it, each for one purpose.
///
/// It never changes for the life of a store: what changes with the key source is only how it is wrapped.
struct StoreKeys: Sendable {
    let dataKey: Secret

    init(dataKey: Secret) { self.dataKey = dataKey }

    static func random() -> StoreKeys {
        StoreKeys(dataKey: SymmetricKey(size: .bits256).withUnsafeBytes { Secret(bytes: $0) })
    }

    /// The derived keys, for as long as a load or a commit takes.
    func derived() -> Derived {
        Derived(sealing: derive("sealing"), naming: derive("naming"), digest: derive("digest"))
    }

    struct Derived: Sendable {
        /// Seals records and the state.
        let sealing: SymmetricKey
        /// Makes a record's identity from its name.
        let naming: SymmetricKey
        /// Makes the digest of all records.
        let digest: SymmetricKey
    }

    private func derive(_ purpose: String) -> SymmetricKey {
        let input = dataKey.withBytes { SymmetricKey(data: $0) }
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: input, info: Data("sso-agent store 2 \(purpose)".utf8), outputByteCount: 32)
    }
}

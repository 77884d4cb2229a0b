internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The store's key, encrypted with the key of a key source.
struct WrappedKey: Sendable, Equatable {
    /// Increases with every change of the store's key.
    let generation: Int64
    let source: KeySource
    /// The parameters of the passphrase's derivation; nil for other sources.
    let scrypt: Scrypt?
    let envelope: Envelope

    init(_ keys: StoreKeys, generation: Int64, with wrapping: KeyRing.Wrapping) throws(TokenError) {
        var head: [UInt8] = [0]
        head.append(number: generation)
        head.append(UInt8(wrapping.source.rawValue))
        if let scrypt = wrapping.scrypt { head += scrypt.bytes }
        head[0] = UInt8(head.count)
        self.generation = generation
        source = wrapping.source
        scrypt = wrapping.scrypt
        envelope = try keys.dataKey.withBytes { content in
            Result { () throws(TokenError) in try Envelope(.key, head: head, content: content, with: wrapping.key) }
        }.get()
    }

    /// Returns nil if the envelope is not a wrapped key, or its source is not known.
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

internal import Crypto
internal import TokenModel

/// The store's key, sealed with the key source's. Changing the source makes a new one of these, and nothing else.
struct WrappedKey: Sendable, Equatable {
    /// Which of several is the latest.
    let generation: Int64
    let source: KeySource
    /// How the passphrase becomes a key; nil for other sources.
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

    /// Nil when the bytes are not a wrapped key of a source that this version knows.
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

    /// The store's key; nil when the wrapping key is not the right one.
    func open(with wrapping: SymmetricKey) -> StoreKeys? {
        guard let key = envelope.open(with: wrapping, { Secret(bytes: $0) }), key.count == 32 else { return nil }
        return StoreKeys(dataKey: key)
    }
}

internal import TokenModel

/// What the store as a whole is supposed to be, sealed with every commit: how far numbers have been given out, how many
/// records there are, and the digest of them. A record that was set back, taken out or put back does not fit it.
struct StoreState: Sendable, Equatable {
    var counter: Int64 = 0
    var count = 0
    var digest = SetDigest()

    init() {}

    func sealed(_ keys: StoreKeys.Derived) throws(TokenError) -> Envelope {
        var head: [UInt8] = []
        head.append(number: counter)
        var content: [UInt8] = []
        content.append(number: Int64(count))
        content += digest.bytes
        return try Envelope(.state, head: head, content: content, with: keys.sealing)
    }

    /// Nil when it is not genuine.
    init?(_ envelope: Envelope, _ keys: StoreKeys.Derived) {
        var head = ByteReader(envelope.head)
        guard envelope.kind == .state, let counter = head.number(Int64.self),
            let content = envelope.open(with: keys.sealing)
        else { return nil }
        var reader = ByteReader(content[...])
        guard let count = reader.number(Int64.self), let digest = SetDigest(&reader) else { return nil }
        (self.counter, self.count, self.digest) = (counter, Int(count), digest)
    }
}

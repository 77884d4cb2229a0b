internal import Crypto
internal import TokenModel

/// A record as it lies on disk: named by a keyed hash, numbered, and sealed under both.
///
/// Sealed bytes cannot be put in another record's place, since the identity is authenticated with them, nor under another
/// number; that none was set back to an earlier number is for `StoreState` to say.
struct SealedRecord: Sendable, Equatable {
    let id: RecordID
    /// Given out once only, upwards: of two versions of a record the higher one is the later.
    let sequence: Int64
    let envelope: Envelope

    init(_ record: StoredRecord, id: RecordID, sequence: Int64, _ keys: StoreKeys.Derived) throws(TokenError) {
        var head: [UInt8] = []
        head.append(id)
        head.append(number: sequence)
        var content: [UInt8] = []
        content.append(counted: record.key.group.utf8)
        content.append(number: record.key.kind)
        content.append(counted: record.key.key.utf8)
        content += record.body
        self.id = id
        self.sequence = sequence
        envelope = try Envelope(.record, head: head, content: content, with: keys.sealing)
    }

    init?(_ envelope: Envelope) {
        var reader = ByteReader(envelope.head)
        guard envelope.kind == .record, let id = RecordID(&reader), let sequence = reader.number(Int64.self),
            sequence > 0
        else { return nil }
        self.id = id
        self.sequence = sequence
        self.envelope = envelope
    }

    /// The record; nil when it is not genuine.
    func open(_ keys: StoreKeys.Derived) -> Opened? {
        guard let content = envelope.open(with: keys.sealing) else { return nil }
        var reader = ByteReader(content[...])
        guard let group = reader.counted(), let kind = reader.number(Int32.self), let key = reader.counted() else {
            return nil
        }
        let name = String(decoding: group, as: UTF8.self)
        // A later version may know more kinds: its records are kept, and none of our business.
        let record = RecordKind(rawValue: kind).map { kind in
            StoredRecord(
                key: RecordKey(group: name, kind: kind, key: String(decoding: key, as: UTF8.self)),
                body: Array(reader.rest))
        }
        return Opened(group: name, digest: SetDigest(id, sequence, keys), record: record)
    }

    struct Opened {
        let group: String
        let digest: SetDigest
        /// Nil when its kind is not known.
        let record: StoredRecord?
    }
}

extension [UInt8] {
    fileprivate mutating func append(number kind: RecordKind) { append(number: kind.rawValue) }
}

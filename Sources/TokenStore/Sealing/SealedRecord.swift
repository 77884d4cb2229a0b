internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A record on disk: sealed with its identity and its sequence number as authenticated data.
///
/// Sealed bytes cannot take the place of another record, since the identity and the number are authenticated. Whether a
/// record was replaced by an earlier version of itself is checked with `SealedState`.
struct SealedRecord: Sendable, Equatable {
    let id: RecordID
    /// Unique and ascending: of two versions of a record, the higher number is the later one.
    let sequence: Int64
    /// The tag of the record's account; nil for a record that version 2 sealed.
    let tag: AccountTag?
    let envelope: Envelope

    /// Whether the record takes many pages of the database, so that its renewal counts as growth.
    var isLong: Bool { envelope.bytes.count > 32 << 10 }

    init(_ record: StoredRecord, id: RecordID, sequence: Int64, _ keys: StoreKeys.Derived) throws(TokenError) {
        var content: [UInt8] = []
        // An array that grows would leave copies of the body in memory.
        let account = if case .account(let account) = record.account { account } else { "" }
        content.reserveCapacity(
            record.key.group.utf8.count + record.key.key.utf8.count + account.utf8.count + record.body.count + 16)
        defer { content.wipe() }
        content.append(counted: record.key.group.utf8)
        content.append(number: record.key.kind.rawValue)
        content.append(counted: record.key.key.utf8)
        let tag = AccountTag(record.account, in: record.key.group, keys)
        if tag != nil { content.append(counted: account.utf8) }
        content += record.body
        try self.init(content: content, id: id, sequence: sequence, tag: tag, keys)
    }

    /// Seals a content that is encoded already.
    init(
        content: some DataProtocol, id: RecordID, sequence: Int64, tag: AccountTag?, _ keys: StoreKeys.Derived
    ) throws(TokenError) {
        var head: [UInt8] = []
        head.append(id)
        head.append(number: sequence)
        if let tag { head.append(number: tag.number) }
        self.id = id
        self.sequence = sequence
        self.tag = tag
        envelope = try Envelope(
            tag == nil ? .record : .taggedRecord, head: head, content: content, with: keys.sealing)
    }

    init?(_ envelope: Envelope) {
        var reader = ByteReader(envelope.head)
        guard envelope.kind == .record || envelope.kind == .taggedRecord, let id = RecordID(&reader),
            let sequence = reader.number(Int64.self), sequence > 0
        else { return nil }
        self.id = id
        self.sequence = sequence
        tag = reader.number(UInt16.self).map(AccountTag.init)
        self.envelope = envelope
    }

    /// Decrypts the record; nil if it is not authentic.
    func open(_ keys: StoreKeys.Derived) -> Opened? {
        guard let content = envelope.open(with: keys.sealing) else { return nil }
        var reader = ByteReader(content[...])
        guard let group = reader.counted(), let kind = reader.number(Int32.self), let key = reader.counted(),
            let account = RecordAccount(tag, &reader)
        else { return nil }
        let name = String(decoding: group, as: UTF8.self)
        // A later version may know more kinds; its records are kept and not decoded.
        let record = RecordKind(rawValue: kind).map { kind in
            StoredRecord(
                key: RecordKey(group: name, kind: kind, key: String(decoding: key, as: UTF8.self)),
                body: Array(reader.rest), account: account)
        }
        return Opened(group: name, digest: SetDigest(id, sequence, keys), record: record)
    }

    struct Opened {
        let group: String
        let digest: SetDigest
        /// The record; nil if this version does not know its kind.
        let record: StoredRecord?
    }
}

extension SealedRecord {
    /// The record under other keys and another number, with its group; nil if it is not authentic.
    ///
    /// The content is carried over as it is, also that of a kind that this version does not know.
    func resealed(
        as sequence: Int64, from old: StoreKeys.Derived, to new: StoreKeys.Derived
    ) throws(TokenError) -> (record: SealedRecord, group: String)? {
        let result = envelope.open(with: old.sealing) { content -> Result<(SealedRecord, String)?, TokenError> in
            Result { () throws(TokenError) in
                var reader = ByteReader(Array(content)[...])
                guard let group = reader.counted(), let kind = reader.number(Int32.self), let key = reader.counted(),
                    let account = RecordAccount(tag, &reader)
                else { return nil }
                let id = RecordID(group: group, kind: kind, key: key, new)
                let name = String(decoding: group, as: UTF8.self)
                let record = try SealedRecord(
                    content: content, id: id, sequence: sequence, tag: AccountTag(account, in: name, new), new)
                return (record, name)
            }
        }
        guard let result, let (record, group) = try result.get() else { return nil }
        return (record, group)
    }
}

/// The identity of a record on disk: a keyed hash of its key, which reveals nothing without the store's key.
struct RecordID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    static let count = 16

    init(_ key: RecordKey, _ keys: StoreKeys.Derived) {
        self.init(group: key.group.utf8, kind: key.kind.rawValue, key: key.key.utf8, keys)
    }

    init(group: some Collection<UInt8>, kind: Int32, key: some Collection<UInt8>, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(counted: group)
        name.append(number: kind)
        name.append(counted: key)
        // Half of the hash is enough to avoid collisions.
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.naming))[...])
        high = reader.number() ?? 0
        low = reader.number() ?? 0
    }

    init?(_ reader: inout ByteReader) {
        guard let high = reader.number(UInt64.self), let low = reader.number(UInt64.self) else { return nil }
        (self.high, self.low) = (high, low)
    }
}

extension [UInt8] {
    mutating func append(_ id: RecordID) {
        append(number: id.high)
        append(number: id.low)
    }
}

package import TokenModel
package import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A record of the cache: a credential, an account, or what is known of an app.
package enum CacheRecord: Sendable, Equatable {
    case account(AccountRecord)
    case accessToken(AccessTokenRecord)
    case refreshToken(RefreshTokenRecord)
    case idToken(IDTokenRecord)
    case appMetadata(AppMetadataRecord)
    case accountMetadata(AccountMetadataRecord)
    case currentAccount(CurrentAccountRecord)
    case opaque(OpaqueRecord)

    /// The record as a value of its own type. The only place that lists every kind in order to treat them alike.
    package var content: any RecordContent {
        switch self {
        case .account(let record): record
        case .accessToken(let record): record
        case .refreshToken(let record): record
        case .idToken(let record): record
        case .appMetadata(let record): record
        case .accountMetadata(let record): record
        case .currentAccount(let record): record
        case .opaque(let record): record
        }
    }

    package var header: RecordHeader { content.header }

    /// The kind under which the store keeps the record.
    package var kind: RecordKind { content.kind }

    /// The record's key in the store.
    package func key(in group: SharingGroup) -> RecordKey {
        let content = content
        return RecordKey(group: group.name, kind: content.kind, key: content.key)
    }

    /// The same record of another account.
    package func assigned(to account: AccountKey) -> CacheRecord { changed { $0.assign(to: account) } }

    /// The record after a change.
    func changed<Failure: Error>(
        _ body: (inout any RecordContent) throws(Failure) -> Void
    ) throws(Failure) -> CacheRecord {
        var content = content
        try body(&content)
        return content.record
    }
}

/// Records as the store keeps them.
extension CacheRecord {
    /// The result of reading a stored record.
    package enum Loaded: Sendable {
        /// The record, which is stored as this version stores it.
        case asStored(CacheRecord)
        /// A record that an earlier version stored under another key, or with values that no message can hold. Nil if it is of
        /// no use.
        case repaired(CacheRecord?)
        /// A record of an earlier version, which did not store the issuer; it follows from the account's other records.
        case unresolved(CacheRecord)
        /// The bytes are not a record of that kind: the file is damaged.
        case unreadable
    }

    package static func load(_ stored: StoredRecord, in group: SharingGroup) -> Loaded {
        guard let record = CacheRecord(stored) else { return .unreadable }
        guard let repaired = record.repaired else { return .repaired(nil) }
        guard repaired.header.account?.issuer != .unresolved else { return .unresolved(repaired) }
        return repaired == record && record.key(in: group) == stored.key ? .asStored(record) : .repaired(repaired)
    }

    /// Reads a stored record; nil if the bytes are not a record of its kind.
    package init?(_ stored: StoredRecord) {
        let read: (any RecordContent)? =
            switch stored.key.kind {
            case .account: CacheJSON.decode(AccountRecord.self, stored.body)
            case .accessToken: CacheJSON.decode(StoredCredential.self, stored.body).flatMap(AccessTokenRecord.init)
            case .refreshToken: CacheJSON.decode(StoredCredential.self, stored.body).flatMap(RefreshTokenRecord.init)
            case .idToken: CacheJSON.decode(StoredCredential.self, stored.body).flatMap(IDTokenRecord.init)
            case .appMetadata: CacheJSON.decode(AppMetadataRecord.self, stored.body)
            case .accountMetadata: CacheJSON.decode(AccountMetadataRecord.self, stored.body)
            case .currentAccount: CacheJSON.decode(CurrentAccountRecord.self, stored.body)
            case .opaque: CacheJSON.decode(OpaqueRecord.self, stored.body)
            case .cloud, .redemption: nil
            }
        guard let read else { return nil }
        self = read.record
    }

    /// The record as the store keeps it.
    ///
    /// - Throws: `internalError` (-51100) if it cannot be encoded.
    package func stored(in group: SharingGroup) throws(TokenError) -> StoredRecord {
        StoredRecord(key: key(in: group), body: try content.encoded())
    }
}

/// Records that an export of the agent's own holds in the form of the store.
extension CacheRecord {
    /// The number of the record's kind; it never changes (see `RecordKind`).
    package var kindNumber: Int32 { kind.rawValue }

    /// Reads an exported record; nil if the bytes are not a record of that kind, or a kind that is not exported.
    package init?(exportedAs number: Int32, _ body: [UInt8]) {
        guard let kind = RecordKind(rawValue: number),
            [.account, .accessToken, .refreshToken, .idToken, .accountMetadata].contains(kind)
        else { return nil }
        self.init(StoredRecord(key: RecordKey(group: "", kind: kind, key: ""), body: body))
    }
}

/// The JSON of stored records and clouds.
///
/// Coding is synthesised, so that each field is named once for both directions. Only the agent writes these bytes, which the
/// store authenticates. Bytes of any other origin are read with `JSONReader`, also those of the agent's section of an import,
/// before they are decoded as a record.
package enum CacheJSON {
    /// - Throws: `internalError` (-51100) if the value cannot be encoded.
    package static func encode(_ value: some Encodable) throws(TokenError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw TokenError(.internalError, "a cache record could not be encoded")
        }
    }

    /// Returns nil if the bytes are not such a value.
    package static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }
}

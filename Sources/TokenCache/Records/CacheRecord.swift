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

    /// The same token under another host name; any other record unchanged.
    package func saved(under environment: String) -> CacheRecord {
        guard var token = content as? any CredentialRecord else { return self }
        token.environment = environment
        return token.record
    }

    /// The same record with those of its unknown fields for which `isIncluded` returns true.
    package func filteringUnknownFields(_ isIncluded: (JSONTree.Member) -> Bool) -> CacheRecord {
        guard let json = header.unknownFields, json != UnknownFields.none else { return self }
        var fields = UnknownFields(json)
        for field in fields.members where !isIncluded(field) { fields.remove(field.name) }
        return changed { $0.setUnknownFields(fields.json) }
    }

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
        /// The record without its token, which remains in the store. If tokens are left out, records of other kinds are
        /// unread, too.
        case unread(CacheRecord)
        /// A record that an earlier version stored, as JSON or under another key, perhaps with values that no message can hold.
        /// Nil if it is of no use.
        case repaired(CacheRecord?)
        /// A record of an earlier version, which did not store the issuer; it follows from the account's other records. A refresh token
        /// whose issuer does not follow from them is stored again without it.
        case unresolved(CacheRecord)
        /// The bytes are not a record of that kind: the file is damaged.
        case unreadable
    }

    /// - Parameters:
    ///   - texts: the texts that the records have in common.
    ///   - leavesOutTokens: whether the tokens of records of this version are not read.
    package static func load(
        _ stored: StoredRecord, in group: SharingGroup, _ texts: TextPool = TextPool(), leavesOutTokens: Bool = false
    ) -> Loaded {
        if leavesOutTokens, isPacked(stored), let record = CacheRecord(stored, texts, leavesOutTokens: true),
            record.isComplete, record.content.key.hasSameBytes(as: stored.key.key)
        {
            return .unread(record)
        }
        guard let record = CacheRecord(stored, texts) else { return .unreadable }
        guard !Self.isPacked(stored) else {
            // A packed record has been written by this version, with valid values.
            if case .accountMetadata(let metadata) = record, metadata.issuer == nil { return .unresolved(record) }
            if case .refreshToken(let token) = record, token.account.issuer == .unresolved {
                return .unresolved(record)
            }
            // Tokens of two apps of an OpenID provider, whose client IDs differ in case only, had one key in an earlier version.
            return record.content.key.hasSameBytes(as: stored.key.key) ? .asStored(record) : .repaired(record)
        }
        guard let repaired = record.repaired else { return .repaired(nil) }
        return repaired.header.account?.issuer == .unresolved ? .unresolved(repaired) : .repaired(repaired)
    }

    /// Reads a stored record; nil if the bytes are not a record of its kind.
    package init?(_ stored: StoredRecord, _ texts: TextPool = TextPool()) {
        self.init(stored, texts, leavesOutTokens: false)
    }

    private init?(_ stored: StoredRecord, _ texts: TextPool, leavesOutTokens: Bool) {
        let read: (any RecordContent)? =
            if Self.isPacked(stored) {
                stored.body.withUnsafeBytes { bytes in
                    FieldReader(bytes, texts, leavesOutTokens: leavesOutTokens).flatMap {
                        Self.unpacked($0, stored.key.kind)
                    }
                }
            } else {
                Self.decoded(stored.body, stored.key.kind)
            }
        guard let read else { return nil }
        self = read.record
    }

    private static func isPacked(_ stored: StoredRecord) -> Bool { stored.body.first == FieldWriter.mark }

    /// Reads a packed record of an account that `packedWithoutToken` wrote, without its token.
    init?(unread bytes: UnsafeRawBufferPointer, _ kind: RecordKind, _ texts: TextPool) {
        let reader = FieldReader(bytes, texts, leavesOutTokens: true)
        guard let read = reader.flatMap({ Self.unpacked($0, kind) }) else { return nil }
        self = read.record
    }

    /// The packed form of the record without its token.
    func packedWithoutToken() -> [UInt8] {
        var writer = FieldWriter(capacity: 512, leavesOutTokens: true)
        content.pack(into: &writer)
        return writer.bytes
    }

    /// Whether the record has the values that are otherwise derived when the store is loaded.
    private var isComplete: Bool {
        switch self {
        case .accountMetadata(let metadata): metadata.issuer != nil
        case .refreshToken(let token): token.binding != nil
        default: true
        }
    }

    /// Whether the record's token is in the store only.
    package var isUnread: Bool {
        switch self {
        case .accessToken(let token): token.secret.isUnread
        case .refreshToken(let token): token.secret.isUnread
        case .idToken(let token): token.isUnread
        default: false
        }
    }

    private static func unpacked(_ reader: FieldReader, _ kind: RecordKind) -> (any RecordContent)? {
        var reader = reader
        let read: (any RecordContent)? =
            switch kind {
            case .account: AccountRecord(&reader)
            case .accessToken: AccessTokenRecord(&reader)
            case .refreshToken: RefreshTokenRecord(&reader)
            case .idToken: IDTokenRecord(&reader)
            case .appMetadata: AppMetadataRecord(&reader)
            case .accountMetadata: AccountMetadataRecord(&reader)
            case .currentAccount: CurrentAccountRecord(&reader)
            case .opaque: OpaqueRecord(&reader)
            case .cloud, .redemption: nil
            }
        return reader.isWhole ? read : nil
    }

    /// Decodes the JSON of a record that an earlier version stored, or that an export holds.
    private static func decoded(_ body: [UInt8], _ kind: RecordKind) -> (any RecordContent)? {
        switch kind {
        case .account: CacheJSON.decode(AccountRecord.self, body)
        case .accessToken: CacheJSON.decode(StoredCredential.self, body).flatMap(AccessTokenRecord.init)
        case .refreshToken: CacheJSON.decode(StoredCredential.self, body).flatMap(RefreshTokenRecord.init)
        case .idToken: CacheJSON.decode(StoredCredential.self, body).flatMap(IDTokenRecord.init)
        case .appMetadata: CacheJSON.decode(AppMetadataRecord.self, body)
        case .accountMetadata: CacheJSON.decode(AccountMetadataRecord.self, body)
        case .currentAccount: CacheJSON.decode(CurrentAccountRecord.self, body)
        case .opaque: CacheJSON.decode(OpaqueRecord.self, body)
        case .cloud, .redemption: nil
        }
    }

    /// The record as the store keeps it.
    package func stored(in group: SharingGroup) -> StoredRecord {
        let content = content
        var writer = FieldWriter(capacity: content.packedLength)
        content.pack(into: &writer)
        return StoredRecord(
            key: RecordKey(group: group.name, kind: content.kind, key: content.key), body: writer.bytes,
            account: content.header.account?.homeAccountID.map { .account($0.text) } ?? .noAccount)
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
        guard let read = Self.decoded(body, kind) else { return nil }
        self = read.record
    }
}

/// The JSON of clouds, of the records in exports, and of the records that earlier versions stored.
///
/// Coding is synthesised, so that each field is named once for both directions. Only the agent writes these bytes into the store,
/// which authenticates them. Bytes of any other origin are read with `JSONReader`, also those of the agent's section of an import,
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

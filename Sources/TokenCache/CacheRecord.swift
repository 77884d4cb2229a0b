package import TokenModel
package import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One thing the cache remembers.
package enum CacheRecord: Sendable, Equatable {
    case account(AccountRecord)
    case accessToken(AccessTokenRecord)
    case refreshToken(RefreshTokenRecord)
    case idToken(IDTokenRecord)
    case appMetadata(AppMetadataRecord)
    case accountMetadata(AccountMetadataRecord)
    case principal(PrincipalRecord)
    case carried(CarriedRecord)

    /// The record that a store held, as this version keeps it.
    package enum Loaded: Sendable {
        case asStored(CacheRecord)
        /// An earlier version stored it under another name, or with values that no message can hold. Nil when it is of no use.
        case repaired(CacheRecord?)
        /// The bytes are not a record of that kind, which says something about the file and not about the app.
        case unreadable
    }

    package static func load(_ stored: StoredRecord, in group: SharingGroup) -> Loaded {
        guard let record = CacheRecord(stored) else { return .unreadable }
        guard let repaired = record.repaired else { return .repaired(nil) }
        return repaired == record && record.key(in: group) == stored.key ? .asStored(record) : .repaired(repaired)
    }

    /// What names it in the store.
    package func key(in group: SharingGroup) -> RecordKey {
        switch self {
        case .account(let record): RecordKey(group: group.name, kind: .account, key: record.key)
        case .accessToken(let record): RecordKey(group: group.name, kind: .accessToken, key: record.key)
        case .refreshToken(let record): RecordKey(group: group.name, kind: .refreshToken, key: record.key)
        case .idToken(let record): RecordKey(group: group.name, kind: .idToken, key: record.key)
        case .appMetadata(let record): RecordKey(group: group.name, kind: .appMetadata, key: record.key)
        case .accountMetadata(let record): RecordKey(group: group.name, kind: .accountMetadata, key: record.key)
        case .principal(let record): RecordKey(group: group.name, kind: .principal, key: record.key)
        case .carried(let record): RecordKey(group: group.name, kind: .carried, key: record.key)
        }
    }

    /// Whose it is; nil for what is nobody's.
    var owner: OwnerID? {
        switch self {
        case .account(let record): record.owner
        case .accessToken(let record): record.owner
        case .refreshToken(let record): record.owner
        case .idToken(let record): record.owner
        case .accountMetadata(let record): record.owner
        case .appMetadata, .carried, .principal: nil
        }
    }

    /// What another library wrote of it, as JSON.
    var unknownFields: String? {
        switch self {
        case .account(let record): record.foreign
        case .accessToken(let record): record.foreign
        case .refreshToken(let record): record.foreign
        case .idToken(let record): record.foreign
        case .appMetadata(let record): record.foreign
        case .carried(let record): record.json
        case .accountMetadata, .principal: nil
        }
    }

    /// The host it was saved under; nil for what holds in every cloud.
    var environment: String? {
        switch self {
        case .account(let record): record.environment
        case .accessToken(let record): record.environment
        case .refreshToken(let record): record.environment
        case .idToken(let record): record.environment
        case .appMetadata(let record): record.environment
        case .accountMetadata, .carried, .principal: nil
        }
    }

    /// Nil when the bytes are not a record of that kind, which says something about the file and not about the app.
    package init?(_ stored: StoredRecord) {
        let body = Data(stored.body)
        let decoder = JSONDecoder()
        switch stored.key.kind {
        case .account:
            guard let record = try? decoder.decode(AccountRecord.self, from: body) else { return nil }
            self = .account(record)
        case .appMetadata:
            guard let record = try? decoder.decode(AppMetadataRecord.self, from: body) else { return nil }
            self = .appMetadata(record)
        case .accountMetadata:
            guard let record = try? decoder.decode(AccountMetadataRecord.self, from: body) else { return nil }
            self = .accountMetadata(record)
        case .principal:
            guard let record = try? decoder.decode(PrincipalRecord.self, from: body) else { return nil }
            self = .principal(record)
        case .carried:
            guard let record = try? decoder.decode(CarriedRecord.self, from: body) else { return nil }
            self = .carried(record)
        case .accessToken, .refreshToken, .idToken:
            guard let credential = try? decoder.decode(StoredCredential.self, from: body) else { return nil }
            self.init(credential, kind: stored.key.kind)
        case .cloud, .redemption: return nil
        }
    }

    private init?(_ credential: StoredCredential, kind: RecordKind) {
        let record: CacheRecord? =
            switch kind {
            case .accessToken: AccessTokenRecord(credential).map(CacheRecord.accessToken)
            case .refreshToken: RefreshTokenRecord(credential).map(CacheRecord.refreshToken)
            default: IDTokenRecord(credential).map(CacheRecord.idToken)
            }
        guard let record else { return nil }
        self = record
    }

    func stored(in group: SharingGroup) throws(TokenError) -> StoredRecord {
        StoredRecord(key: key(in: group), body: try body())
    }

    private func body() throws(TokenError) -> [UInt8] {
        switch self {
        case .account(let record): try CacheJSON.encode(record)
        case .accessToken(let record): try CacheJSON.encode(record.stored)
        case .refreshToken(let record): try CacheJSON.encode(record.stored)
        case .idToken(let record): try CacheJSON.encode(record.stored)
        case .appMetadata(let record): try CacheJSON.encode(record)
        case .accountMetadata(let record): try CacheJSON.encode(record)
        case .principal(let record): try CacheJSON.encode(record)
        case .carried(let record): try CacheJSON.encode(record)
        }
    }
}

/// How a record becomes bytes.
enum CacheJSON {
    static func encode(_ value: some Encodable) throws(TokenError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw TokenError(.internalError, "a cache record could not be encoded")
        }
    }
}

internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The content of the store at start-up, decoded off the event loop.
struct LoadedCache: RecordReceiver {
    private(set) var cache = CredentialCache()
    /// The refresh tokens whose redemption had no answer when the agent stopped.
    private(set) var interrupted: Set<RecordKey> = []
    /// The number of records that could not be decoded.
    private(set) var unknown = 0
    /// The keys of records that earlier versions stored under other keys, or with values beyond the limits of messages.
    private var stale: [RecordKey] = []
    /// The records to write instead.
    private var repaired: [RecordKey: (record: CacheRecord, group: SharingGroup)] = [:]

    enum Item: Sendable {
        case record(CacheRecord, SharingGroup, stored: RecordKey)
        case repaired(CacheRecord?, SharingGroup, stored: RecordKey)
        case cloud(CloudDirectory.Cloud)
        case interrupted(RecordKey)
        case unknown
    }

    static func decode(_ stored: StoredRecord) -> Item {
        if let token = RedemptionNotes.token(of: stored.key) { return .interrupted(token) }
        if stored.key.kind == .cloud {
            return CacheJSON.decode(CloudDirectory.Cloud.self, stored.body).map(Item.cloud) ?? .unknown
        }
        guard let group = SharingGroup(stored.key.group) else { return .unknown }
        return switch CacheRecord.load(stored, in: group) {
        case .asStored(let record): .record(record, group, stored: stored.key)
        case .repaired(let record): .repaired(record, group, stored: stored.key)
        case .unreadable: .unknown
        }
    }

    mutating func add(_ item: Item) {
        switch item {
        case .record(let record, let group, let stored):
            // The store has this record under its key already.
            if cache.load(record, in: group) { repaired[stored] = nil }
        case .repaired(let record, let group, let stored):
            let key = record?.key(in: group)
            if stored != key { stale.append(stored) }
            if let record, let key, cache.load(record, in: group) { repaired[key] = (record, group) }
        case .cloud(let cloud): _ = cache.clouds.learn([cloud], from: cloud.preferredCache)
        case .interrupted(let token): interrupted.insert(token)
        case .unknown: unknown += 1
        }
    }

    /// The changes that make the store equal to the cache in memory.
    func repairs() throws(TokenError) -> [StoreChange] {
        let notes = stale.filter { $0.kind == .refreshToken }.map(RedemptionNotes.note)
        var changes = (stale + notes).map(StoreChange.delete)
        for (record, group) in repaired.values { changes.append(try CacheChange.save(record).stored(in: group)) }
        return changes
    }
}

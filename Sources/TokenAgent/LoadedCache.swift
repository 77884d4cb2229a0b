internal import TokenCache
internal import TokenModel
internal import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the store held, as the agent needs it; worked out beside the event loop.
struct LoadedCache: RecordReceiver {
    private(set) var cache = CredentialCache()
    /// The refresh tokens that were being redeemed when the agent stopped.
    private(set) var interrupted: Set<RecordKey> = []
    /// How many records could not be understood.
    private(set) var unknown = 0

    enum Item: Sendable {
        case record(CacheRecord, SharingGroup)
        case cloud(CloudDirectory.Cloud)
        case interrupted(RecordKey)
        case unknown
    }

    static func read(_ stored: StoredRecord) -> Item {
        if let token = RedemptionNote.token(of: stored.key) { return .interrupted(token) }
        if stored.key.kind == .cloud {
            let cloud = try? JSONDecoder().decode(CloudDirectory.Cloud.self, from: Data(stored.body))
            return cloud.map(Item.cloud) ?? .unknown
        }
        guard let group = SharingGroup(stored.key.group), let record = CacheRecord(stored) else { return .unknown }
        return .record(record, group)
    }

    mutating func take(_ item: Item) {
        switch item {
        case .record(let record, let group): cache.load(record, in: group)
        case .cloud(let cloud): _ = cache.clouds.learn([cloud], from: cloud.preferredCache)
        case .interrupted(let token): interrupted.insert(token)
        case .unknown: unknown += 1
        }
    }
}

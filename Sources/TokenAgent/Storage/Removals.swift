internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Removes records: from memory at once, so that no later reply contains them, and then from the store. A removal is acknowledged when
/// both are done.
///
/// - What a commit or an import that began earlier brings into memory meanwhile is removed in the same turn of the event loop, also if it
///   moves what was removed from an account's username to its identifier, or to another host name of its cloud.
/// - A removal is acknowledged after the earlier ones of its sharing group are durable: it may find nothing because one of them has
///   removed it.
///
/// Used on the actor of `CacheOwner` only.
final class Removals {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let throttle: ThrottleTable
    private var inProgress: [Int: InProgress] = [:]
    private var lastNumber = 0

    init(memory: CacheMemory, commits: CommitQueue, throttle: ThrottleTable) {
        self.memory = memory
        self.commits = commits
        self.throttle = throttle
    }

    /// A removal that is visible, and to be made durable by `finish`.
    struct Begun: Sendable {
        fileprivate let number: Int
    }

    private struct InProgress {
        let pending: PendingRemoval
        let events: EventFeeds.PreparedChanges?
    }

    /// Removes what there is from memory.
    ///
    /// - Parameter find: computes the changes that remove what is in a cache.
    /// - Returns: nil if there is nothing to remove, and no commit or import in progress that could bring it, and no earlier removal that
    ///   is not durable yet.
    func begin(in group: SharingGroup, _ find: @escaping (CredentialCache) -> [CacheChange]) -> Begun? {
        let changes = find(memory.cache)
        guard
            !changes.isEmpty || memory.hasRemovals(in: group) || commits.hasUnsavedRemovals(in: group)
                || commits.isChanging(group)
        else { return nil }
        let pending = PendingRemoval(group, find)
        let events = memory.begin(pending, changes)
        throttle.removeTokens()
        lastNumber += 1
        inProgress[lastNumber] = InProgress(pending: pending, events: events)
        return Begun(number: lastNumber)
    }

    /// Makes a removal durable.
    ///
    /// - Returns: whether there was anything to remove that no earlier removal had removed.
    /// - Throws: `storeUnavailable` (-53008) if it cannot be written now. It is in effect nevertheless, and written again later.
    func finish(_ begun: Begun) async throws(TokenError) -> Bool {
        guard let removal = inProgress.removeValue(forKey: begun.number) else { return false }
        defer {
            // What a response has brought meanwhile may be part of a recorded error.
            throttle.removeTokens()
            memory.end(removal.pending, removal.events)
        }
        do throws(TokenError) {
            try await commits.commit(removal.pending)
        } catch {
            var error = error
            error.append(
                "; what was removed is not used any more, but stays on the disk until the agent can write it, and comes back if the "
                    + "agent is restarted before")
            throw error
        }
        return !removal.pending.changes.isEmpty
    }
}

/// A removal in progress, which is visible in memory.
final class PendingRemoval {
    let group: SharingGroup
    let find: (CredentialCache) -> [CacheChange]
    /// What was removed so far, for the store.
    var changes: [CacheChange] = []

    init(_ group: SharingGroup, _ find: @escaping (CredentialCache) -> [CacheChange]) {
        self.group = group
        self.find = find
    }

    /// The removals of the credentials that changes move to another account, or to another host name of its cloud, and that this removal has
    /// removed at the former place: they have other keys now, under which `find` does not find them.
    func removals(ofRecordsMovedBy applied: [CacheChange], _ clouds: CloudDirectory) -> [CacheChange] {
        var origins: [RecordKey: AccountKey] = [:]
        for case .remove(let key, let account?) in applied where Self.credentials.contains(key.kind) {
            origins[key] = account
        }
        guard !origins.isEmpty else { return [] }
        let removed = Set(
            changes.compactMap { change -> RecordKey? in
                if case .remove(let key, _) = change { key } else { nil }
            })
        origins = origins.filter { removed.contains($0.key) }
        let accounts = Set(origins.values)
        return applied.compactMap { change -> CacheChange? in
            guard case .save(let record) = change, let account = record.header.account,
                let environment = record.header.environment
            else { return nil }
            let key = record.key(in: group)
            let isMoved = clouds.cacheAliases(of: environment).map(record.saved(under:)).contains { named in
                accounts.contains { origin in
                    let former = named.assigned(to: origin).key(in: group)
                    return former != key && origins[former] == origin
                }
            }
            return isMoved ? .remove(key, account: account) : nil
        }
    }

    private static let credentials: Set<RecordKind> = [.accessToken, .refreshToken, .idToken]
}

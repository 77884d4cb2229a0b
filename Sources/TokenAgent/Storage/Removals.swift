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
/// - A removal of very many accounts is divided: the event loop looks at its connections after each part. It is durable as a whole.
///
/// Used on the actor of `CacheOwner` only.
final class Removals {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let throttle: ThrottleTable
    /// The thread that a divided removal goes to and back, so that the event loop looks at its connections.
    private let detour = WorkThread("removals")
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
        let pending = PendingRemoval(group, .whole(find))
        return began(pending, memory.begin(pending, changes))
    }

    /// Begins a sign-out. If it concerns very many accounts, such as those with one name, `finish` removes them from memory, a limited number
    /// in each turn of the event loop.
    ///
    /// - Returns: nil if there is nothing to remove, as above.
    func begin(removing request: RemoveAccount) -> Begun? {
        let (group, accounts) = (request.sharingGroup, memory.cache.accounts(removedBy: request))
        guard accounts.count >= PendingRemoval.dividedAccounts else {
            return begin(in: group) { $0.changes(removing: request) }
        }
        let search = PendingRemoval.SearchByAccount(
            accounts: { $0.accounts(removedBy: request) }, changes: { $0.changes(removing: request, from: $1) })
        let pending = PendingRemoval(group, .byAccount(search), dividing: accounts)
        return began(pending, memory.beginDivided(pending))
    }

    private func began(_ pending: PendingRemoval, _ events: EventFeeds.PreparedChanges?) -> Begun {
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
            try await commits.commit(removal.pending) {
                while removal.pending.isDivided {
                    memory.extend(removal.pending, by: removal.pending.findPart(in: memory.cache))
                    await detour.waitUntilIdle()
                }
            }
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

/// A removal in progress, which is visible in memory: as a whole, or so far as it has come if it is divided.
final class PendingRemoval {
    /// Finds what a removal of accounts removes, of some of them at a time.
    struct SearchByAccount {
        /// The accounts in a cache that are removed, or changed.
        let accounts: (CredentialCache) -> [AccountKey]
        /// The changes of some of them.
        let changes: (CredentialCache, _ accounts: [AccountKey]) -> [CacheChange]
    }

    enum Search {
        /// Computes the changes that remove what is in a cache.
        case whole((CredentialCache) -> [CacheChange])
        case byAccount(SearchByAccount)
    }

    let group: SharingGroup
    private let search: Search
    /// What was removed so far, for the store.
    var changes: [CacheChange] = []
    /// The accounts that a divided removal has not removed yet, in order.
    private var rest: ArraySlice<AccountKey>
    private var restKeys: Set<AccountKey>

    init(_ group: SharingGroup, _ search: Search, dividing accounts: [AccountKey] = []) {
        self.group = group
        self.search = search
        rest = accounts[...]
        restKeys = Set(accounts)
    }

    /// Whether accounts have not been removed from memory yet, so that `findPart` has to be called.
    var isDivided: Bool { !rest.isEmpty }

    /// The changes that remove the next accounts of a divided removal.
    func findPart(in cache: CredentialCache) -> [CacheChange] {
        let part = rest.prefix(Self.accountsOfPart)
        rest = rest.dropFirst(part.count)
        restKeys.subtract(part)
        guard case .byAccount(let search) = search else { return [] }
        return search.changes(cache, Array(part))
    }

    /// The changes that remove what has come back, or has come since the removal began.
    ///
    /// - Parameter applied: the changes that may have brought it; none if it may be anything in the cache.
    func find(in cache: CredentialCache, after applied: [CacheChange]) -> [CacheChange] {
        switch search {
        case .whole(let find): return find(cache)
        case .byAccount(let search):
            let saved = applied.compactMap(\.savedRecord)
            let accounts = Set(saved.compactMap(\.header.account))
            // An opaque record may belong to any account.
            let mayBeAny = saved.isEmpty || saved.contains { $0.kind == .opaque }
            let found = search.accounts(cache).filter { !restKeys.contains($0) && (mayBeAny || accounts.contains($0)) }
            return search.changes(cache, found)
        }
    }

    /// The number of accounts that are removed in one turn of the event loop.
    static let accountsOfPart = 16
    /// The number of accounts from which on a removal is divided.
    static let dividedAccounts = 64

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

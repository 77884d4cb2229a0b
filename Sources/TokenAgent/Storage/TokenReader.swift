internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Reads tokens that are in the store only: after a start, the tokens of an account are in memory from the first request that needs them.
///
/// Used on the actor of `CacheOwner` only.
final class TokenReader {
    /// An account of a sharing group.
    private struct Place: Hashable {
        let account: AccountKey
        let group: SharingGroup
    }

    private let memory: CacheMemory
    private let commits: CommitQueue
    private let tokensInUse: KeyedLock<Secret>
    private let store: any RecordStore
    /// The accounts whose tokens have been read or saved, in that order.
    private var places: [Place] = []
    /// The bytes that the tokens of these accounts had when they were noted last.
    private var sizes: [Place: Int] = [:]
    private var size = 0
    /// Whether tokens are to leave memory when the commits in progress have ended.
    private var isWaiting = false
    /// A lock for each account that a silent request reads, so that requests at the same time share a read.
    private lazy var silentReads = KeyedLock<Place>()

    init(memory: CacheMemory, commits: CommitQueue, tokensInUse: KeyedLock<Secret>, store: any RecordStore) {
        self.memory = memory
        self.commits = commits
        self.tokensInUse = tokensInUse
        self.store = store
    }

    /// Decides a silent request, after reading the tokens of its account if they are not in memory.
    ///
    /// - Parameter account: the account that has to be read, if the cache has said so.
    /// - Returns: the decision, which is never `.unread`, and the time for which it was made.
    /// - Throws: `storeUnavailable` (-53008) if they cannot be read.
    func decide(
        _ request: AcquireTokenSilent, afterReading account: AccountKey? = nil, now: () -> Int64
    ) async throws(TokenError) -> (decision: SilentDecision, time: Int64) {
        let group = request.parameters.sharingGroup
        var unread = account
        for _ in 0..<Self.attempts {
            if let account = unread {
                try await silentReads.exclusive(Place(account: account, group: group)) { () async throws(TokenError) in
                    // Another request may have read them meanwhile.
                    try await read([account], in: group)
                }
            }
            // A locked store has an empty cache, from which a decision would be wrong.
            if let refusal = commits.lockRefusal { throw refusal }
            let time = now()
            let decision = memory.cache.decide(request, now: time)
            guard case .unread(let account) = decision else { return (decision, time) }
            unread = account
        }
        throw Self.changing
    }

    /// Reads the tokens of accounts into memory.
    ///
    /// - Throws: `storeUnavailable` (-53008) if they cannot be read.
    func read(_ accounts: [AccountKey], in group: SharingGroup) async throws(TokenError) {
        for _ in 0..<Self.attempts {
            let (tokens, count) = (memory.cache.unreadTokens(of: accounts, in: group), memory.replacementCount)
            guard !tokens.isEmpty else { return }
            let read = try await read(tokens)
            guard count == memory.replacementCount else { continue }
            memory.fill(with: read, of: tokens, in: group)
            noteUse(of: accounts, in: group)
        }
    }

    private func read(_ tokens: [UnreadToken]) async throws(TokenError) -> ReadTokens {
        try await commits.reading { () async throws(TokenError) in
            await Self.decode(try await store.records(with: tokens.map(\.key)))
        }
    }

    /// Decodes records, off the event loop.
    @concurrent
    private static func decode(_ records: [StoredRecord]) async -> ReadTokens { ReadTokens(records) }

    /// Forgets which accounts have been used, since the store has been loaded or locked.
    func removeAll() { (places, sizes, size) = ([], [:], 0) }

    /// A list that cannot be made before tokens have been read.
    struct UnfinishedList: Sendable {
        fileprivate var tokens: ListedTokens
        fileprivate var replacementCount: Int
    }

    /// Returns the value of `body`; or nil, and a list to finish, if the value depends on tokens that are in the store only.
    ///
    /// - Throws: what `body` throws.
    func find<Value>(
        in group: SharingGroup, _ body: (CredentialCache, _ tokens: inout ListedTokens) throws(TokenError) -> Value
    ) throws(TokenError) -> (value: Value?, rest: UnfinishedList) {
        var list = UnfinishedList(tokens: ListedTokens(in: group), replacementCount: memory.replacementCount)
        let value = try body(memory.cache, &list.tokens)
        return (list.tokens.missing.isEmpty ? value : nil, list)
    }

    /// Returns what `body` finds in the cache, with the tokens that it shows. They are not added to the cache: a list of all accounts must
    /// not leave all tokens in memory.
    ///
    /// - Parameter list: what the first attempt has found.
    /// - Throws: what `body` throws, and `storeUnavailable` (-53008) if the tokens cannot be read.
    func finish<Value>(
        _ list: UnfinishedList, in group: SharingGroup,
        _ body: (CredentialCache, _ tokens: inout ListedTokens) throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        // No token leaves memory during the attempts, except those of an import. Otherwise the tokens read for an earlier attempt could be
        // older than the records of the store.
        try await commits.reading { () async throws(TokenError) in
            var list = list
            for _ in 0..<Self.attempts {
                list.tokens.add(try await read(Array(list.tokens.missing)))
                if let refusal = commits.lockRefusal { throw refusal }
                if list.replacementCount == memory.replacementCount {
                    let value = try body(memory.cache, &list.tokens)
                    guard !list.tokens.missing.isEmpty else { return value }
                } else {
                    let (value, rest) = try find(in: group, body)
                    if let value { return value }
                    list = rest
                }
            }
            throw Self.changing
        }
    }

    /// Notes that the tokens of accounts are in memory. If there are too many such accounts or too many bytes, and the store has
    /// everything, the tokens of those that were noted first leave memory: now, or when the commits in progress have ended.
    func noteUse(of accounts: [AccountKey], in group: SharingGroup) {
        let used = accounts.map { Place(account: $0, group: group) }
        for place in used {
            let new = memory.cache.partition(group).tokenSize(of: place.account)
            let old = sizes.updateValue(new, forKey: place)
            if old == nil { places.append(place) }
            size += new - (old ?? 0)
        }
        guard isAboveLimit, commits.isComplete else { return }
        if commits.isIdle { return removeOldest(Self.maximumAtOnce, besides: used) }
        // There may always be a commit in progress.
        guard !isWaiting else { return }
        isWaiting = true
        commits.betweenCommits { isComplete in
            self.isWaiting = false
            if isComplete { self.removeOldest(Self.maximumAfterCommits) }
        }
    }

    /// Removes the tokens of the accounts that were noted first from memory, while there are too many.
    ///
    /// - Parameters:
    ///   - count: the number of accounts that are looked at. There are several, so that the list becomes shorter again after a time in
    ///     which no tokens could leave memory.
    ///   - used: the accounts whose tokens the caller has just read, and needs.
    private func removeOldest(_ count: Int, besides used: [Place] = []) {
        let inUse = tokensInUse.heldKeys
        for place in places.prefix(count) where isAboveLimit {
            places.removeFirst()
            guard !used.contains(place), !memory.cache.redeems(place.account, in: place.group, inUse) else {
                places.append(place)
                continue
            }
            memory.pack(place.account, in: place.group)
            size -= sizes.removeValue(forKey: place) ?? 0
        }
    }

    private var isAboveLimit: Bool { places.count > Self.limit || size > Self.sizeLimit }

    /// The number of accounts whose tokens stay in memory after they have been read.
    static let limit = 1024
    /// The bytes of tokens up to which they stay, several times what that number of ordinary accounts has; one app may have tokens of a
    /// provider of its own that are as long as a message can hold.
    static let sizeLimit = 16 << 20
    private static let maximumAtOnce = 16
    /// As many as there are connections to providers, each of which may have brought another account.
    private static let maximumAfterCommits = 256
    /// The number of attempts to read the tokens of a cache that changes meanwhile.
    private static let attempts = 8

    private static let changing = TokenError(
        .storeUnavailable, "the account is being changed again and again; try again")
}

extension CredentialCache {
    /// The cache with all tokens of some accounts, for work on another thread.
    ///
    /// - Returns: the cache without the records that the store does not have, and whether there are none of these: commits may have moved
    ///   or removed some since this cache was copied.
    /// - Throws: `storeUnavailable` (-53008) if they cannot be read.
    func readingTokens(
        of accounts: [AccountKey], in group: SharingGroup, from store: any RecordStore,
        _ check: () throws(TokenError) -> Void
    ) throws(TokenError) -> (cache: CredentialCache, isComplete: Bool) {
        var (cache, isComplete) = (self, true)
        for start in stride(from: 0, to: accounts.count, by: Self.accountsOfABatch) {
            try check()
            let tokens = cache.unreadTokens(
                of: accounts[start..<min(start + Self.accountsOfABatch, accounts.count)], in: group)
            guard !tokens.isEmpty else { continue }
            let read = ReadTokens(try store.readRecords(with: tokens.map(\.key)))
            let lost = cache.fill(with: read, of: tokens, in: group)
            cache.apply(lost, in: group)
            isComplete = isComplete && lost.isEmpty
        }
        return (cache, isComplete)
    }

    private static let accountsOfABatch = 256
}

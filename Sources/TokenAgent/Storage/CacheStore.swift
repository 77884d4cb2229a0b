internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The records of the store, which the agent reads and changes while it is open; see `Store`.
protocol RecordStore: Sendable {
    /// Makes all changes durable, or none. Commits are performed in the order of the calls.
    ///
    /// - Parameter window: how long to wait for further commits, which then cost no flush of their own.
    func commit(_ changes: [StoreChange], gatheringFor window: Duration) async throws(TokenError)

    /// Makes all batches durable, or none. Batches are numbered from 0; the first that is nil ends them.
    func commit(
        batches batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError)

    /// Empties the write-ahead log, which has records that were removed.
    func truncateLog() async

    /// Returns the records with these keys that the store has.
    func records(with keys: [RecordKey]) async throws(TokenError) -> [StoredRecord]

    /// Returns the records as `records(with:)` does, and blocks the calling thread meanwhile.
    func readRecords(with keys: [RecordKey]) throws(TokenError) -> [StoredRecord]

    /// The state of the store after its last operation.
    var report: StoreReport { get }
}

/// The store as the agent sees it; see the methods of `Store`. Tests have a scripted one.
protocol CacheStore: RecordStore {
    /// Obtains the store's key and reads every record.
    func load(passphrase: Secret?) async throws(TokenError) -> LoadedCache

    /// The part of the cache that an account's records are in, while `load` is in progress; nil if it cannot be read before `load`
    /// returns.
    func cacheWhileLoading(of account: HomeAccountID, in group: SharingGroup) async -> CredentialCache?

    /// Forgets the store's key, until the next load.
    func lock() async throws(TokenError)

    /// Wipes a passphrase that did not open the store.
    func forgetPassphrase() async

    /// Seals every record under a new key, and wraps that with the key of a source, which may be the present one.
    func changeKeySource(
        to source: KeySource, passphrase: Secret?, currentPassphrase: Secret?
    ) async throws(TokenError)

    /// The error that would keep the store from being opened at the next start; nil if there is none.
    func keyProblem() async -> TokenError?

    /// The error of a store that is not where it was opened any more, at the first look that finds it; nil otherwise.
    func checkPlace() async -> TokenError?

    /// Whether the store waits for the keyring that has its key.
    var isAskingKeyring: Bool { get }

    /// The keyring that is being used and has not answered yet, in words; nil if none is.
    var unansweredKeyring: String? { get }

    /// Returns the names of the damaged files in quarantine, and blocks the calling thread meanwhile.
    func findQuarantined() -> [String]
}

extension RecordStore {
    /// Empties the log after changes that remove refresh tokens: a copy of the files from after a sign-out has no refresh token of the account.
    func emptyLog(after changes: [StoreChange]) async {
        if changes.contains(where: \.removesRefreshTokens) { await truncateLog() }
    }
}

extension CacheStore {
    /// Whether the store waits for its passphrase.
    var awaitsPassphrase: Bool {
        if case .locked = report.phase { report.keySource == .passphrase } else { false }
    }
}

extension Store: CacheStore {
    func load(passphrase: Secret?) async throws(TokenError) -> LoadedCache {
        await Self.finished(try await load(passphrase: passphrase, into: LoadedCache.self))
    }

    /// Finds the issuers of the records of an earlier version, off the event loop: these may be all.
    @concurrent
    private static func finished(_ loaded: consuming LoadedCache) async -> LoadedCache {
        loaded.finish()
        return loaded
    }

    func cacheWhileLoading(of account: HomeAccountID, in group: SharingGroup) async -> CredentialCache? {
        guard let records = await recordsWhileLoading(of: account.text, in: group.name) else { return nil }
        return await Self.cache(of: records)
    }

    /// Decodes records, off the event loop.
    @concurrent
    private static func cache(of records: [StoredRecord]) async -> CredentialCache {
        var loaded = LoadedCache(records)
        loaded.finish()
        return loaded.cache
    }
}

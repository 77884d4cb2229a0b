internal import TokenCache
internal import TokenModel
internal import TokenStore

/// Where commits go; see `Store.commit`.
protocol CommitTarget: Sendable {
    /// Makes all of `changes` durable, or none, in the order of the calls.
    func commit(_ changes: [StoreChange]) async throws(TokenError)

    /// Makes the batches durable, numbered from 0 to the first that is nil: all of them, or none.
    func commit(
        batches batch: @escaping @Sendable (Int) throws(TokenError) -> [StoreChange]?
    ) async throws(TokenError)

    /// How the store is after the last commit.
    var report: StoreReport { get }
}

/// What the agent asks of its store; see the methods of `Store`.
protocol CacheStore: CommitTarget {
    /// Finds the key and reads every record.
    func load(passphrase: Secret?) async throws(TokenError) -> LoadedCache

    /// Forgets a passphrase that did not open the store.
    func forgetPassphrase() async

    /// Wraps the store's key with the key of another source.
    func changeKeySource(to source: KeySource, passphrase: Secret?) async throws(TokenError)

    /// Why the store could not be opened at the next start; nil if it could.
    func keyProblem() async -> TokenError?

    /// The damaged files that were put aside and are still there, by name.
    var quarantined: [String] { get }
}

extension Store: CacheStore {
    func load(passphrase: Secret?) async throws(TokenError) -> LoadedCache {
        try await load(passphrase: passphrase, into: LoadedCache.self)
    }
}

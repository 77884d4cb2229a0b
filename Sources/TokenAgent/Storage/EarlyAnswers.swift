internal import TokenCache
internal import TokenModel

/// Answers silent requests while the store is being loaded, from the records of the requested account alone.
///
/// Only a cache hit is answered: a token that need not be renewed follows from the records of the account and from the clouds, which
/// are read first. Every other decision needs the whole cache, and so waits for it.
///
/// Used on the actor of `CacheOwner` only.
final class EarlyAnswers {
    private struct Account: Hashable {
        let group: SharingGroup
        let identifier: HomeAccountID

        /// Returns nil for a request that no hit answers, or that needs other accounts' records.
        init?(_ request: AcquireTokenSilent) {
            guard !request.forceRefresh, request.parameters.claims == nil,
                let identifier = request.account.homeAccountID
            else { return nil }
            group = request.parameters.sharingGroup
            self.identifier = identifier
        }
    }

    private let store: any CacheStore
    private let now: @Sendable () -> Int64
    /// The part of the cache that was read for each account.
    private var caches: [Account: CredentialCache] = [:]
    /// The accounts that are being read, each for a number of requests.
    private var reads: [Account: Int] = [:]
    /// The number of loads that have ended.
    private var endedLoads = 0

    init(store: any CacheStore, now: @escaping @Sendable () -> Int64) {
        self.store = store
        self.now = now
    }

    /// Begins to read the request's account if that may bring an answer before the store is loaded. `read(for:)` has to follow.
    ///
    /// - Returns: whether it has begun. Accounts that are being read count against the limit: an app may ask for any number at once.
    func beginReading(for request: AcquireTokenSilent) -> Bool {
        guard let account = Account(request), caches[account] == nil,
            reads[account] != nil || caches.count + reads.count < Self.limit
        else { return false }
        reads[account, default: 0] += 1
        return true
    }

    /// Reads the records of the request's account. Returns when they have been read, or when that is not possible before the store is
    /// loaded.
    func read(for request: AcquireTokenSilent) async {
        guard let account = Account(request) else { return }
        defer { reads[account] = reads[account].flatMap { $0 > 1 ? $0 - 1 : nil } }
        let load = endedLoads
        guard let cache = await store.cacheWhileLoading(of: account.identifier, in: account.group),
            // The load may have ended while the records were read, and the store may be locked now.
            load == endedLoads
        else { return }
        caches[account] = cache
    }

    /// The cached token that answers a request; nil if that needs the whole cache.
    func hit(_ request: AcquireTokenSilent) -> TokenResult? {
        guard let account = Account(request), let cache = caches[account],
            case .use(let result, .some) = cache.decide(request, now: now())
        else { return nil }
        return result
    }

    /// Called when the store has been loaded, or cannot be loaded.
    func removeAll() {
        caches = [:]
        endedLoads += 1
    }

    /// The number of accounts.
    static let limit = 64
}

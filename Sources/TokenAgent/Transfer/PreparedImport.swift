internal import TokenCache
internal import TokenModel
internal import TokenStore

/// An import, ready to be written.
struct PreparedImport: Sendable {
    let plan: ImportPlan
    /// The steps on disk.
    private(set) var stored: [StoreChange] = []
    /// The places of the refresh tokens that it saves: redemptions that were interrupted there are settled.
    private(set) var settled: Set<RecordKey> = []
    /// The refresh tokens that it takes the place of.
    let replaced: Set<Secret>
    let group: SharingGroup

    /// Beside the event loop, like everything here: a cache may be long, and hits must not wait for it.
    @concurrent
    init(_ foreign: ForeignCache, against cache: CredentialCache, in group: SharingGroup) async throws(TokenError) {
        self.group = group
        plan = cache.changes(importing: foreign, in: group)
        replaced = Set(cache.refreshTokens(replacedBy: plan.changes, in: group))
        for change in plan.changes {
            let step = try change.stored(in: group)
            stored.append(step)
            if case .put(let record) = step, record.key.kind == .refreshToken { settled.insert(record.key) }
        }
    }

    /// The cache with the import in it.
    @concurrent
    func applied(to cache: CredentialCache) async -> CredentialCache {
        var cache = cache
        cache.apply(plan.changes, in: group)
        return cache
    }
}

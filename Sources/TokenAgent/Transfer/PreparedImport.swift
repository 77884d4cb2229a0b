internal import CacheFormats
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// An import, ready to be written.
struct PreparedImport: Sendable {
    let plan: ImportPlan
    /// The places of the refresh tokens that it saves: redemptions that were interrupted there are settled.
    let settled: Set<RecordKey>
    /// The refresh tokens that it takes the place of.
    let replaced: Set<Secret>
    let group: SharingGroup

    /// Beside the event loop, like everything here: a cache may be long, and hits must not wait for it.
    @concurrent
    init(_ foreign: ForeignCache, against cache: CredentialCache, in group: SharingGroup) async throws(TokenError) {
        self.group = group
        plan = cache.changes(importing: foreign, in: group)
        replaced = Set(cache.refreshTokens(replacedBy: plan.changes, in: group))
        settled = Set(
            plan.changes.compactMap { change in
                guard case .save(let record) = change, case .refreshToken = record else { return nil }
                return record.key(in: group)
            })
    }

    /// The steps on disk, some at a time: as bytes, all of them would take as much memory as the file did.
    func batch(_ number: Int) throws(TokenError) -> [StoreChange]? {
        let start = number * Self.batchSize
        guard start <= plan.changes.count else { return nil }
        let changes = plan.changes[start..<min(start + Self.batchSize, plan.changes.count)]
        var steps: [StoreChange] = []
        for change in changes { steps.append(try change.stored(in: group)) }
        if changes.count < Self.batchSize { steps += settled.map { .delete(RedemptionNotes.note(of: $0)) } }
        return steps
    }

    /// The names of the records that it writes.
    var keys: [RecordKey] {
        let records = plan.changes.compactMap { change in
            if case .save(let record) = change { record.key(in: group) } else { nil }
        }
        return records + settled.map(RedemptionNotes.note)
    }

    private static let batchSize = 256

    /// The cache with the import in it.
    @concurrent
    func applied(to cache: CredentialCache) async -> CredentialCache {
        var cache = cache
        cache.apply(plan.changes, in: group)
        return cache
    }
}

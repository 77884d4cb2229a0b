internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

extension CacheOwner {
    /// Takes in what another library's cache says: all of it, or nothing.
    ///
    /// What belongs on disk and in memory is worked out beside the event loop, which meanwhile answers hits, and while
    /// nobody else's changes are written: what it is worked out from then still holds when it is written.
    func take(
        _ foreign: ForeignCache, in group: SharingGroup, isDryRun: Bool
    ) async throws(TokenError) -> ImportCache.Report {
        while true {
            var report: ImportCache.Report?
            var redemption: EventLoopFuture<Void>?
            try await alone { () async throws(TokenError) in
                let before = cacheChanges
                let prepared = try await PreparedImport(foreign, against: cache, in: group)
                // A redemption brings something newer, and has to be written first.
                redemption = refreshTokensInUse.first { prepared.replaced.contains($0.key) }?.value
                guard redemption == nil else { return }
                if !isDryRun { try await write(prepared, workedOutAt: before) }
                report = prepared.plan.report
            }
            if let report { return report }
            _ = try? await redemption?.get()
        }
    }

    /// On disk and then in memory. What cannot be written is dropped: it can be imported again.
    private func write(_ prepared: PreparedImport, workedOutAt changes: Int) async throws(TokenError) {
        try await store.commit { (number) throws(TokenError) in try prepared.batch(number) }
        if !unsaved.isEmpty { unsaved.supersede(keys: prepared.keys) }
        logNotices()
        interrupted.subtract(prepared.settled)
        guard changes != cacheChanges else { return cache = prepared.plan.cache }
        for _ in 0..<Self.patience {
            let before = cacheChanges
            let applied = await prepared.applied(to: cache)
            guard before == cacheChanges else { continue }
            return cache = applied
        }
        // In the end at once: somebody who keeps signing out must not keep an import waiting for ever.
        cache.apply(prepared.plan.changes, in: prepared.group)
    }

    /// How often the cache may change, by a removal, while an import is being added to it.
    private static let patience = 5
}

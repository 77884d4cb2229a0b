internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// An account whose records are being written.
struct SavingKey: Hashable {
    var group: SharingGroup
    var owner: OwnerID
}

extension CacheOwner {
    /// Writes changes down and makes them true in memory, in that order: durable before anyone hears of it.
    ///
    /// - Parameters:
    ///   - written: the same changes as they go to disk, where that has been worked out already.
    ///   - settled: a refresh token whose redemption these changes answer.
    ///   - orNothing: whether changes that cannot be written are dropped, because whoever made them can make them again.
    /// - Throws: `storeUnavailable` when they could not be written. Unless `orNothing`, they are true in memory all the
    ///   same, since the token endpoint has issued what it issued; the next commit, or a few seconds, tries again to write
    ///   them.
    func commit(
        _ changes: [CacheChange], as written: [StoreChange]? = nil, settling settled: RecordKey? = nil,
        in group: SharingGroup, orNothing: Bool = false
    ) async throws(TokenError) {
        var stored = written ?? []
        if written == nil {
            for change in changes { stored.append(try change.stored(in: group)) }
        }
        let tokens = stored.compactMap(\.refreshToken) + (settled.map { [$0] } ?? [])
        stored += tokens.map { .delete(RedemptionNote.key(of: $0)) }
        guard !stored.isEmpty else { return }
        commitsUnderWay += 1
        commitsBegun += 1
        defer { commitEnded() }
        if orNothing {
            try await store.commit(stored)
            applyWritten(changes, tokens, in: group)
            makeUpForLosses()
        } else {
            defer { applyWritten(changes, tokens, in: group) }
            try await write(stored)
        }
    }

    private func applyWritten(_ changes: [CacheChange], _ tokens: [RecordKey], in group: SharingGroup) {
        cache.apply(changes, in: group)
        interrupted.subtract(tokens)
    }

    /// Writes steps down, together with those that could not be written before.
    func write(_ stored: [StoreChange]) async throws(TokenError) {
        // Those first, so that what is said later of the same record comes later.
        let together = unsaved.changes + stored
        do throws(TokenError) {
            try await store.commit(together)
            unsaved.supersede(together)
            makeUpForLosses()
        } catch {
            unsaved.failed(stored)
            options.logger.error("the store cannot be written", metadata: ["reason": "\(error.message)"])
            retryLater()
            throw error
        }
    }

    /// Does `work` when nobody else is changing this account: what it works out from the cache is then still so when it is
    /// written.
    func inTurn<Value>(
        _ key: SavingKey, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        while let earlier = saving[key] { _ = try? await earlier.get() }
        let done = loop.makePromise(of: Void.self)
        saving[key] = done.futureResult
        defer {
            saving[key] = nil
            done.succeed()
        }
        return try await work()
    }

    /// Tries once more to write what could not be written.
    func saveUnsaved() async {
        guard !unsaved.isEmpty else { return }
        try? await write([])
    }

    /// Writes everything again where the store has lost records while it was in use: memory still has them.
    private func makeUpForLosses() {
        let losses = store.report.losses
        guard losses > lossesMadeUpFor else { return }
        lossesMadeUpFor = losses
        options.logger.error("the store has lost records; all of them are written again")
        _ = later { owner async throws(TokenError) in
            // What is being written is newer than memory, and must not be written over.
            await owner.quiescence()
            try await owner.write(try owner.cache.everything())
        }
    }

    private func retryLater() {
        guard retry == nil, !unsaved.isEmpty else { return }
        retry = loop.scheduleTask(in: Self.retryInterval) {
            self.assumeIsolated { owner in
                owner.retry = nil
                _ = owner.later { owner async throws(TokenError) in await owner.saveUnsaved() }
            }
        }
    }

    private static let retryInterval = TimeAmount.seconds(5)
}

extension StoreChange {
    /// The refresh token that it replaces or removes.
    fileprivate var refreshToken: RecordKey? {
        switch self {
        case .put(let record) where record.key.kind == .refreshToken: record.key
        case .delete(let key) where key.kind == .refreshToken: key
        default: nil
        }
    }
}

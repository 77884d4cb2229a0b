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
    /// - Parameter settled: a refresh token whose redemption these changes answer.
    /// - Throws: `storeUnavailable` when they could not be written. They are true in memory all the same, since the token
    ///   endpoint has issued what it issued; the next commit, or a few seconds, tries again to write them.
    func commit(
        _ changes: [CacheChange], settling settled: RecordKey? = nil, in group: SharingGroup
    ) async throws(TokenError) {
        while let importing { _ = try? await importing.get() }
        var stored: [StoreChange] = []
        for change in changes { stored.append(try change.stored(in: group)) }
        let tokens = stored.compactMap(\.refreshToken) + (settled.map { [$0] } ?? [])
        stored += tokens.map { .delete(RedemptionNote.key(of: $0)) }
        guard !stored.isEmpty else { return }
        commitsUnderWay += 1
        defer {
            cache.apply(changes, in: group)
            interrupted.subtract(tokens)
            commitEnded()
        }
        try await write(stored)
    }

    /// Writes steps down, together with those that could not be written before.
    ///
    /// - Parameter insists: whether the steps are to be tried again when they cannot be written now.
    func write(_ stored: [StoreChange], insists: Bool = true) async throws(TokenError) {
        // Those first, so that what is said later of the same record comes later; and taken, so that nobody else writes
        // them again after what is written now.
        let earlier = unsaved.take()
        do throws(TokenError) {
            try await store.commit(earlier + stored)
            unsaved.supersede(earlier + stored)
            logNotices()
            makeUpForLosses()
        } catch {
            unsaved.failed(insists ? earlier + stored : earlier)
            logNotices()
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
        while let earlier = removing[key.group] ?? saving[key] { _ = try? await earlier.get() }
        let done = loop.makePromise(of: Void.self)
        saving[key] = done.futureResult
        defer {
            saving[key] = nil
            done.succeed()
        }
        return try await work()
    }

    /// Does `work` when nobody is changing any account of the group: what was being saved is there, and what is saved from
    /// now on comes after it.
    func inTurn<Value>(
        _ group: SharingGroup, _ work: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        while let earlier = removing[group] { _ = try? await earlier.get() }
        let done = loop.makePromise(of: Void.self)
        removing[group] = done.futureResult
        defer {
            removing[group] = nil
            done.succeed()
        }
        while let saved = saving.first(where: { $0.key.group == group })?.value { _ = try? await saved.get() }
        while let importing { _ = try? await importing.get() }
        return try await work()
    }

    /// Does `work` while no changes but its own are written; those of others wait, in `commit`.
    func alone(_ work: () async throws(TokenError) -> Void) async throws(TokenError) {
        while let earlier = importing { _ = try? await earlier.get() }
        let done = loop.makePromise(of: Void.self)
        importing = done.futureResult
        defer {
            importing = nil
            done.succeed()
        }
        await quiescence()
        // Else they would be written over what is written now.
        while !unsaved.isEmpty { try await write([]) }
        try await work()
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
            try await owner.alone { () async throws(TokenError) in
                try await owner.write(try await Self.everything(in: owner.cache))
            }
        }
    }

    /// Beside the event loop, since a cache may be long.
    @concurrent
    private static func everything(in cache: CredentialCache) async throws(TokenError) -> [StoreChange] {
        try cache.everything()
    }

    private func retryLater() {
        guard retry == nil, !unsaved.isEmpty else { return }
        retry = after(Self.retryInterval) { owner in
            owner.retry = nil
            _ = owner.later { owner async throws(TokenError) in await owner.saveUnsaved() }
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

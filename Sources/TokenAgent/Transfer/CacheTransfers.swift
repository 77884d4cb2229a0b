internal import CacheFormats
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// Imports and exports caches of other libraries, which are transferred in parts.
///
/// Used on the actor of `CacheOwner` only. Files are decoded and encoded off the event loop.
final class CacheTransfers {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let store: any RecordStore
    private let notes: RedemptionNotes
    private let tokensInUse: KeyedLock<Secret>
    private let tasks: TaskTracker
    private let now: @Sendable () -> Int64
    private let timeZone: LocalTimeZone
    /// The time limits of an import: see `AgentOptions`.
    private let readingTime: Duration
    private let savingTime: Duration
    /// Reads files, and compares them with the cache.
    private let reading = WorkThread("import")
    /// Works for an import while no other commit is in progress, and so does not wait until another import has been read.
    private let saving = WorkThread("import-saving")
    private let exporting = WorkThread("export")
    private var table: TransferTable
    /// The exports whose tokens are being read, with their connections, those that have ended included.
    private var exportsBeingRead: [String: ConnectionID] = [:]
    /// The exports being read whose connection has ended.
    private var discardedExports: Set<String> = []
    /// The cancellation of the transfers in progress.
    private var cancellation = TransferCancellation()

    init(_ core: AgentCore, _ options: AgentOptions) {
        table = TransferTable(importLimit: options.importLimit)
        readingTime = options.importReadingTime
        savingTime = options.importSavingTime
        timeZone = options.timeZone
        memory = core.memory
        commits = core.commits
        store = core.store
        notes = core.notes
        tokensInUse = core.tokensInUse
        tasks = core.tasks
        now = core.now
    }

    /// Discards the transfers of a connection that has ended, except imports that have been received completely.
    func discardAll(of connection: ConnectionID) {
        table.discardAll(of: connection)
        discardedExports.formUnion(exportsBeingRead.filter { $0.value == connection }.keys)
    }

    /// Discards every transfer; those in progress end with an error.
    func cancelAll(_ error: TokenError) {
        table.discardAll()
        cancellation.cancel(error)
        cancellation = TransferCancellation()
    }

    /// Waits until no thread works with the tokens of the cache or of a file.
    func waitUntilIdle() async {
        for thread in [reading, saving, exporting] { await thread.waitUntilIdle() }
    }

    /// Receives a part of an import; with the last part, performs the import.
    func receive(_ request: ImportCache, from connection: ConnectionID) -> Answer<ImportCache.Reply> {
        do throws(TokenError) {
            let id = request.importID ?? PKCE.randomText()
            var upload = try received(request, from: connection)
            // A complete import stays in the table while it is read, since its memory counts until then.
            upload.expiry = request.isLast ? nil : scheduleExpiry(of: id)
            table.keep(upload, as: id)
            guard request.isLast else { return .now(.success(ImportCache.Reply(importID: id))) }
            let (begun, file, cancellation) = (upload.request, table.completeUpload(id), cancellation)
            return .later(
                tasks.start { () async throws(TokenError) in
                    defer {
                        self.table.discard(id)
                        ReleasedMemory.returnToSystem()
                    }
                    let report = try await self.finish(begun, file, cancellation)
                    return ImportCache.Reply(importID: id, report: report)
                })
        } catch {
            return .now(.failure(error))
        }
    }

    /// Sends the next part of an export. The export has the content of the cache at a time before the reply to its first request.
    func send(_ request: ExportCache, to connection: ConnectionID) -> Answer<ExportCache.Reply> {
        do throws(TokenError) { try request.validate() } catch { return .now(.failure(error)) }
        let cancellation = cancellation
        if let id = request.exportID {
            guard let download = table.continueDownload(id, from: connection) else {
                return .now(.failure(TransferTable.unknown))
            }
            return .later(
                tasks.start { () async throws(TokenError) in
                    try await self.nextPart(of: download, as: id, cancellation)
                })
        }
        if let refusal = refusal(of: 0, from: connection) { return .now(.failure(refusal)) }
        let id = PKCE.randomText()
        exportsBeingRead[id] = connection
        return .later(
            tasks.start { () async throws(TokenError) in
                let download = TransferTable.Download(
                    export: try await self.read(request, as: id, cancellation), connection: connection)
                self.table.keep(download, as: id)
                return try await self.nextPart(of: download, as: id, cancellation)
            })
    }

    /// Reads the content of an export. It counts as a transfer until it has been read, also if its connection ends before.
    private func read(
        _ request: ExportCache, as id: String, _ cancellation: TransferCancellation
    ) async throws(TokenError) -> CacheExport {
        defer {
            exportsBeingRead[id] = nil
            discardedExports.remove(id)
        }
        let now = now()
        let export = try await commits.reading { () async throws(TokenError) -> CacheExport? in
            if let export = try await read(request, at: now, cancellation, isLastAttempt: false) { return export }
            // A commit has moved tokens to other keys, such as those of an account that has got its identifier. None can while this has the
            // turn of all commits. On a full disk nothing gets that turn, and the last attempt does without the tokens that are missing.
            let alone = try? await commits.exclusively { () async throws(TokenError) in
                try await read(request, at: now, cancellation, isLastAttempt: false)
            }
            if let export = alone ?? nil { return export }
            return try await read(request, at: now, cancellation, isLastAttempt: true)
        }
        try cancellation.check()
        guard let export, !discardedExports.contains(id) else { throw TransferTable.unknown }
        return export
    }

    /// Reads the content of an export, with the records that are in the cache now.
    ///
    /// - Returns: nil if the store does not have all of them any more, unless this is the last attempt, which leaves out the others.
    private func read(
        _ request: ExportCache, at now: Int64, _ cancellation: TransferCancellation, isLastAttempt: Bool
    ) async throws(TokenError) -> CacheExport? {
        let (cache, store, group) = (memory.cache, store, request.sharingGroup)
        return try await exporting.run { () throws(TokenError) -> CacheExport? in
            let (cache, isComplete) = try cache.readingTokens(
                of: cache.partition(group).accountKeys, in: group, from: store, cancellation.check)
            guard isComplete || isLastAttempt else { return nil }
            return try cache.startExport(request.format, of: group, now: now)
        }
    }

    private func nextPart(
        of download: TransferTable.Download, as id: String, _ cancellation: TransferCancellation
    ) async throws(TokenError) -> ExportCache.Reply {
        let (part, export) = try await exporting.run { () throws(TokenError) in
            var export = download.export
            return (export.next(TransferTable.partSize), export)
        }
        // The store may be being locked, the agent may be stopping, or the connection may have ended.
        try cancellation.check()
        guard table.containsDownload(id) else { throw TransferTable.unknown }
        table.discard(id)
        let sent = download.sent + (part?.count ?? 0)
        guard let part, sent < export.count else {
            ReleasedMemory.returnToSystem()
            return ExportCache.Reply(data: part ?? Secret(""))
        }
        table.keep(
            TransferTable.Download(
                export: export, connection: download.connection, sent: sent, expiry: scheduleExpiry(of: id)), as: id)
        return ExportCache.Reply(data: part, remaining: Int64(export.count - sent), next: id)
    }

    /// The parts of an import so far, with this one.
    private func received(_ request: ImportCache, from connection: ConnectionID) throws(TokenError)
        -> TransferTable.Upload
    {
        var upload = TransferTable.Upload(request: request, connection: connection)
        if let id = request.importID {
            guard let earlier = table.removeUpload(id, from: connection) else { throw TransferTable.unknown }
            upload = earlier
        }
        if let refusal = refusal(of: upload.size + request.data.count, from: connection) { throw refusal }
        upload.add(request.data)
        return upload
    }

    private func refusal(of size: Int, from connection: ConnectionID) -> TokenError? {
        table.refusal(of: size, from: connection, besides: exportsBeingRead.values)
    }

    /// Schedules discarding a transfer that is not continued in time.
    private func scheduleExpiry(of id: String) -> Timers.Timer {
        tasks.schedule(after: TransferTable.timeout) { self.table.discard(id) }
    }

    /// Decodes a complete import and merges it into the cache, completely or not at all.
    ///
    /// The import is computed before it is its turn to be saved: other changes are saved meanwhile. If they have changed the cache, it
    /// is computed again.
    ///
    /// - Parameter cancellation: that of the time at which the last part arrived.
    private func finish(
        _ request: ImportCache, _ file: ForeignFile, _ cancellation: TransferCancellation
    ) async throws(TokenError) -> ImportCache.Report {
        let (clouds, now) = (memory.cache.clouds, now())
        let (foreign, budget) = try await reading.run { [readingTime, timeZone] () throws(TokenError) in
            let budget = ImportBudget(readingTime, cancellation)
            let foreign = try ForeignCache(
                file, format: request.format, now: now, timeZone: timeZone, clouds: clouds, budget: budget)
            return (foreign, budget)
        }
        // The store may have been locked meanwhile, and the cache is empty then.
        try cancellation.check()
        // Copied as late as possible: while a copy of the cache is held, a change of the cache copies what it changes.
        let (count, cache) = (memory.changeCount, memory.cache)
        let store = store
        let prepared = try await commits.reading { () async throws(TokenError) in
            try await reading.run { () throws(TokenError) in
                try PreparedImport(foreign, request, against: cache, with: store, within: budget)
            }
        }
        return try await save(foreign, prepared, computedAt: count, request, cancellation)
    }

    /// Saves an import, within its time. No other commit is in progress, so that only removals and clouds that were learnt change the
    /// cache meanwhile.
    ///
    /// - Parameter count: `CacheMemory.changeCount` when the import was computed.
    private func save(
        _ foreign: ForeignCache, _ prepared: PreparedImport, computedAt count: Int, _ request: ImportCache,
        _ cancellation: TransferCancellation
    ) async throws(TokenError) -> ImportCache.Report {
        var (prepared, count) = (prepared, count)
        while true {
            var report: ImportCache.Report?
            var tokenInUse: Secret?
            try await commits.exclusively { () async throws(TokenError) in
                let budget = ImportBudget(savingTime, cancellation)
                try budget.check()
                if count != memory.changeCount {
                    let (cache, store) = (memory.cache, self.store)
                    count = memory.changeCount
                    prepared = try await commits.reading { () async throws(TokenError) in
                        try await saving.run { () throws(TokenError) in
                            try PreparedImport(foreign, request, against: cache, with: store, within: budget)
                        }
                    }
                }
                // A redemption in progress brings a newer token, and has to be saved first.
                tokenInUse = prepared.replaced.first { tokensInUse.isHeld($0) }
                guard tokenInUse == nil else { return }
                if !request.isDryRun { try await write(prepared, within: budget) }
                report = prepared.plan.report
            }
            if let report { return report }
            if let tokenInUse { await tokensInUse.waitUntilReleased(tokenInUse) }
        }
    }

    /// Makes an import durable, then visible. If it cannot be written it has no effect, and can be repeated.
    /// Its tokens stay in the store only, until requests need them. If the store has lost records, they are in memory
    /// as well, since only memory may have them.
    private func write(_ prepared: PreparedImport, within budget: ImportBudget) async throws(TokenError) {
        try await commits.writeExclusively { number throws(TokenError) in
            try budget.check()
            return prepared.batch(number)
        }
        notes.settle(prepared.settled)
        for attempt in 1...Self.attempts {
            let before = memory.changeCount
            let (cache, inUse, hasLosses) = (memory.cache, tokensInUse.heldKeys, commits.hasLosses)
            let applied = try await saving.run { () throws(TokenError) in
                prepared.applied(to: cache, leaving: inUse, packsAccounts: !hasLosses)
            }
            guard before == memory.changeCount, hasLosses || !commits.hasLosses else { continue }
            // The tokens of redemptions that have begun meanwhile stay in memory, too. The last attempt does not wait
            // for that: these tokens are read again.
            guard attempt == Self.attempts || tokensInUse.heldKeys.isSubset(of: inUse) else { continue }
            return memory.replace(with: applied)
        }
        // Applied on the event loop after all, so that repeated removals cannot delay an import for ever.
        memory.apply(prepared.plan.changes, in: prepared.group)
    }

    /// The number of attempts to apply an import to a copy of the cache; an attempt fails if the cache changes or a redemption begins
    /// meanwhile.
    private static let attempts = 5
}

/// An import whose changes have been computed, to be written and applied.
struct PreparedImport: Sendable {
    let plan: ImportPlan
    /// The keys of the refresh tokens that the import saves; their redemption notes are deleted.
    let settled: Set<RecordKey>
    /// The refresh tokens that the import replaces.
    let replaced: Set<Secret>
    let group: SharingGroup

    /// Computes the changes of an import, off the event loop.
    ///
    /// - Throws: `timedOut` (-53006) if the time of `budget` has passed.
    init(
        _ foreign: ForeignCache, _ request: ImportCache, against cache: CredentialCache, with store: any RecordStore,
        within budget: ImportBudget
    ) throws(TokenError) {
        let group = request.sharingGroup
        self.group = group
        let accounts = try cache.accounts(comparedWith: foreign, in: group, check: budget.check)
        let (cache, _) = try cache.readingTokens(of: Array(accounts), in: group, from: store, budget.check)
        plan = try cache.changes(
            importing: foreign, in: group, keepsSignOuts: request.keepsSignOuts, check: budget.check)
        replaced = Set(cache.refreshTokens(replacedBy: plan.changes, in: group))
        settled = Set(
            plan.changes.compactMap { change in
                guard case .save(let record) = change, case .refreshToken = record else { return nil }
                return record.key(in: group)
            })
    }

    /// The changes of the store in a batch. They are encoded in batches, since all of them would need as much memory as the file.
    func batch(_ number: Int) -> [StoreChange]? {
        let start = number * Self.batchSize
        guard start <= plan.changes.count else { return nil }
        let changes = plan.changes[start..<min(start + Self.batchSize, plan.changes.count)]
        var steps = changes.map { $0.stored(in: group) }
        if changes.count < Self.batchSize { steps += settled.map { .delete(RedemptionNotes.note(of: $0)) } }
        return steps
    }

    private static let batchSize = 256

    /// A copy of a cache with the import applied to it, computed off the event loop.
    ///
    /// - Parameters:
    ///   - inUse: refresh tokens that are being redeemed; their accounts keep their tokens in memory.
    ///   - packsAccounts: whether the tokens of the accounts that the import changes leave memory. They have to be in the store.
    func applied(to cache: CredentialCache, leaving inUse: Set<Secret>, packsAccounts: Bool) -> CredentialCache {
        var cache = cache
        cache.apply(plan.changes, in: group)
        guard packsAccounts else { return cache }
        // Each account once: to pack one takes time in proportion to its records.
        let accounts = Set(plan.changes.compactMap { $0.savedRecord?.header.account })
        cache.pack(accounts, in: group, leaving: inUse)
        return cache
    }
}

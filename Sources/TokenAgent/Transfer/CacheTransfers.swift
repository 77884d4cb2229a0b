internal import CacheFormats
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// Imports and exports of other libraries' caches, which come and go in parts.
///
/// Used on the actor of `CacheOwner` only. Files are read and written beside it.
final class CacheTransfers {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let notes: RedemptionNotes
    private let tokensInUse: KeyedLock<Secret>
    private let tasks: TaskTracker
    private let now: @Sendable () -> Int64
    private let timeZone: LocalTimeZone
    private var transfers: Transfers

    init(_ core: AgentCore, importLimit: Int, timeZone: LocalTimeZone) {
        transfers = Transfers(importLimit: importLimit)
        memory = core.memory
        commits = core.commits
        notes = core.notes
        tokensInUse = core.tokensInUse
        tasks = core.tasks
        now = core.now
        self.timeZone = timeZone
    }

    /// Forgets what a session cannot go on with any more. An import that has come in completely goes on.
    func forgetAll(of session: SessionID) { transfers.forgetAll(of: session) }

    func forgetAll() { transfers.forgetAll() }

    /// Keeps a part of a cache; with the last part, imports the whole.
    func receive(
        _ request: ImportCache, from session: SessionID, isolation: isolated (any Actor)? = #isolation
    ) -> Answer<ImportCache.Reply> {
        do throws(TokenError) {
            let id = request.importID ?? PKCE.randomText()
            var upload = try received(request, from: session)
            // Also while it is read: its memory is needed until then.
            upload.expiry = request.isLast ? nil : expiry(of: id)
            transfers.keep(upload, as: id)
            guard request.isLast else { return .now(.success(ImportCache.Reply(importID: id))) }
            let (begun, file) = (upload.request, transfers.handOver(id))
            return .later(
                tasks.start { () async throws(TokenError) in
                    defer { self.transfers.forget(id) }
                    return ImportCache.Reply(importID: id, report: try await self.finish(begun, file))
                })
        } catch {
            return .now(.failure(error))
        }
    }

    /// Writes a cache for another library and hands it out in parts: the cache of the moment when the export began.
    func send(
        _ request: ExportCache, to session: SessionID, isolation: isolated (any Actor)? = #isolation
    ) -> Answer<ExportCache.Reply> {
        guard request.includesSecrets else { return .now(.failure(Self.holdsSecrets)) }
        if let id = request.exportID {
            guard let download = transfers.continueDownload(id, from: session) else {
                return .now(.failure(Transfers.unknown))
            }
            return .later(tasks.start { () async throws(TokenError) in try await self.nextPart(of: download, as: id) })
        }
        if let refusal = transfers.refusal(of: 0) { return .now(.failure(refusal)) }
        return .later(
            tasks.start { () async throws(TokenError) in
                let export = try await Self.startExport(
                    self.memory.cache, request.format, of: request.sharingGroup, now: self.now())
                // Others may have begun meanwhile.
                if let refusal = self.transfers.refusal(of: 0) { throw refusal }
                let download = Transfers.Download(export: export, session: session)
                let id = PKCE.randomText()
                self.transfers.keep(download, as: id)
                return try await self.nextPart(of: download, as: id)
            })
    }

    private func nextPart(of download: Transfers.Download, as id: String) async throws(TokenError) -> ExportCache.Reply
    {
        let (part, export) = await Self.nextPart(of: download.export)
        // The connection may be gone, or the agent stopping.
        guard transfers.isKept(id) else { throw Transfers.unknown }
        transfers.forget(id)
        let sent = download.sent + (part?.count ?? 0)
        guard let part, sent < export.count else { return ExportCache.Reply(data: part ?? Secret("")) }
        transfers.keep(
            Transfers.Download(export: export, session: download.session, sent: sent, expiry: expiry(of: id)), as: id)
        return ExportCache.Reply(data: part, remaining: Int64(export.count - sent), next: id)
    }

    /// What has come of a cache, this part included.
    private func received(_ request: ImportCache, from session: SessionID) throws(TokenError) -> Transfers.Upload {
        var upload = Transfers.Upload(request: request, session: session)
        if let id = request.importID {
            guard let earlier = transfers.takeUpload(id, from: session) else { throw Transfers.unknown }
            upload = earlier
        }
        if let refusal = transfers.refusal(of: upload.size + request.data.count) { throw refusal }
        upload.add(request.data)
        return upload
    }

    /// Forgets a transfer that nobody goes on with.
    private func expiry(of id: String, isolation: isolated (any Actor)? = #isolation) -> Timers.Timer {
        tasks.schedule(after: Transfers.patience) { self.transfers.forget(id) }
    }

    private func finish(_ request: ImportCache, _ file: ForeignFile) async throws(TokenError) -> ImportCache.Report {
        let foreign = try await Self.read(
            file, request.format, now: now(), timeZone: timeZone, clouds: memory.cache.clouds)
        return try await merge(foreign, in: request.sharingGroup, isDryRun: request.isDryRun)
    }

    /// Imports everything in another library's cache, or nothing.
    ///
    /// What belongs on disk and in memory is worked out beside the event loop, which meanwhile answers hits, and while no
    /// other change is written: what it is worked out from is then still true when it is written.
    private func merge(
        _ foreign: ForeignCache, in group: SharingGroup, isDryRun: Bool
    ) async throws(TokenError) -> ImportCache.Report {
        while true {
            var report: ImportCache.Report?
            var tokenInUse: Secret?
            try await commits.exclusively { () async throws(TokenError) in
                let before = memory.changeCount
                let prepared = try await PreparedImport(foreign, against: memory.cache, in: group)
                // A redemption brings something newer, and has to be saved first.
                tokenInUse = prepared.replaced.first { tokensInUse.isHeld($0) }
                guard tokenInUse == nil else { return }
                if !isDryRun { try await write(prepared, workedOutAt: before) }
                report = prepared.plan.report
            }
            if let report { return report }
            if let tokenInUse { await tokensInUse.waitUntilReleased(tokenInUse) }
        }
    }

    /// Durable first, then visible. What cannot be written is dropped: it can be imported again.
    private func write(_ prepared: PreparedImport, workedOutAt count: Int) async throws(TokenError) {
        try await commits.writeExclusively(
            { (number) throws(TokenError) in try prepared.batch(number) }, of: { prepared.keys })
        notes.settle(prepared.settled)
        guard count != memory.changeCount else { return memory.replace(with: prepared.plan.cache) }
        for _ in 0..<Self.attempts {
            let before = memory.changeCount
            let applied = await prepared.applied(to: memory.cache)
            guard before == memory.changeCount else { continue }
            return memory.replace(with: applied)
        }
        // In the end at once: somebody who keeps signing out must not keep an import waiting for ever.
        memory.apply(prepared.plan.changes, in: prepared.group)
    }

    /// Beside the event loop: a file may be long, and hits must not wait for it.
    @concurrent
    private static func read(
        _ file: ForeignFile, _ format: CacheFormat, now: Int64, timeZone: LocalTimeZone, clouds: CloudDirectory
    ) async throws(TokenError) -> ForeignCache {
        try ForeignCache(file, format: format, now: now, timeZone: timeZone, clouds: clouds)
    }

    /// Beside the event loop, from the cache as it is at this moment.
    @concurrent
    private static func startExport(
        _ cache: CredentialCache, _ format: CacheFormat, of group: SharingGroup, now: Int64
    ) async throws(TokenError) -> CacheExport {
        try cache.startExport(format, of: group, now: now)
    }

    /// Beside the event loop: other apps are answered meanwhile.
    @concurrent
    private static func nextPart(of export: CacheExport) async -> (Secret?, CacheExport) {
        var export = export
        return (export.next(Transfers.partSize), export)
    }

    private static let holdsSecrets = TokenError(
        .invalidDeveloperParameter,
        "an export holds refresh tokens in the clear; ask for it with includes_secrets (ssoctl: --include-secrets)")
    /// How often the cache may change, by a removal, while an import is being added to a copy of it.
    private static let attempts = 5
}

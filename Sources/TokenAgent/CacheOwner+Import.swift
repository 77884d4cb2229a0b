internal import Foundation
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

extension CacheOwner {
    /// Keeps a part of a cache; with the last part, reads the whole and takes it in.
    func importCache(_ request: ImportCache) -> Answer<ImportCache.Reply> {
        do throws(TokenError) {
            let (id, upload) = try received(request)
            guard request.isLast else {
                transfers.keep(upload, as: id)
                return .now(.success(ImportCache.Reply(importID: id)))
            }
            upload.expiry.cancel()
            return .later(
                later { owner async throws(TokenError) in
                    ImportCache.Reply(importID: id, report: try await owner.finish(upload))
                })
        } catch {
            return .now(.failure(error))
        }
    }

    /// What has come of a cache, this part included.
    private func received(_ request: ImportCache) throws(TokenError) -> (id: String, upload: Transfers.Upload) {
        let id = request.importID ?? PKCE.randomText()
        var earlier: Transfers.Upload?
        if let known = request.importID {
            guard let upload = transfers.takeUpload(known) else { throw Transfers.unknown }
            earlier = upload
        }
        if let refusal = transfers.refusal(of: (earlier?.size ?? 0) + request.data.count) { throw refusal }
        let upload = Transfers.Upload(
            request: earlier?.request ?? request, parts: (earlier?.parts ?? []) + [request.data],
            size: (earlier?.size ?? 0) + request.data.count, expiry: expiry(of: id))
        return (id, upload)
    }

    /// Forgets a transfer that nobody goes on with.
    private func expiry(of id: String) -> Scheduled<Void> {
        loop.scheduleTask(in: Transfers.patience) { self.assumeIsolated { $0.transfers.forget(id) } }
    }

    private func finish(_ upload: Transfers.Upload) async throws(TokenError) -> ImportCache.Report {
        let request = upload.request
        let foreign = try await Self.read(upload, now: options.now(), timeZone: options.timeZone)
        let prepared = try await prepare(foreign, in: request.sharingGroup)
        if !request.isDryRun {
            try await commit(
                prepared.plan.changes, as: prepared.stored, in: request.sharingGroup, orNothing: true)
        }
        var report = prepared.plan.report
        report.skipped = Array(report.skipped.prefix(Self.mostSkipped))
        return report
    }

    /// Worked out when nothing is being written and no refresh token that it replaces is being redeemed: both would bring
    /// something newer. What has changed meanwhile is looked at again.
    private func prepare(_ foreign: ForeignCache, in group: SharingGroup) async throws(TokenError) -> PreparedImport {
        var attempts = 0
        while true {
            await quiescence()
            guard unsaved.isEmpty else {
                try await write([])
                continue
            }
            attempts += 1
            let begun = commitsBegun
            // In the end at once: a cache that is always being written to must not keep an import waiting for ever.
            let prepared =
                attempts < Self.patience
                ? try await Self.prepare(foreign, against: cache, in: group)
                : try PreparedImport(foreign, against: cache, in: group)
            if let inUse = prepared.replaced.lazy.compactMap({ self.refreshTokensInUse[$0] }).first {
                _ = try? await inUse.get()
                continue
            }
            if commitsUnderWay == 0, commitsBegun == begun { return prepared }
        }
    }

    /// Beside the event loop, like the reading.
    @concurrent
    private static func prepare(
        _ foreign: ForeignCache, against cache: CredentialCache, in group: SharingGroup
    ) async throws(TokenError) -> PreparedImport {
        try PreparedImport(foreign, against: cache, in: group)
    }

    /// Beside the event loop: a file may be long, and hits must not wait for it.
    @concurrent
    private static func read(
        _ upload: Transfers.Upload, now: Int64, timeZone: TimeZone
    ) async throws(TokenError) -> ForeignCache {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(upload.size)
        for part in upload.parts { part.withBytes { bytes += $0 } }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        return try ForeignCache(bytes, format: upload.request.format, now: now, timeZone: timeZone)
    }

    /// Writes a cache for another library and hands it out in parts.
    func exportCache(_ request: ExportCache) -> Answer<ExportCache.Reply> {
        guard request.includesSecrets else { return .now(.failure(Self.holdsSecrets)) }
        if let id = request.exportID {
            guard let download = transfers.takeDownload(id) else { return .now(.failure(Transfers.unknown)) }
            return .now(.success(part(of: download.data, from: download.position, as: id)))
        }
        return .later(
            later { owner async throws(TokenError) in
                let data = try await Self.write(
                    owner.cache, request.format, of: request.sharingGroup, now: owner.options.now())
                if let refusal = owner.transfers.refusal(of: data.count) { throw refusal }
                return owner.part(of: data, from: 0, as: PKCE.randomText())
            })
    }

    private func part(of data: Secret, from start: Int, as id: String) -> ExportCache.Reply {
        let end = min(start + Transfers.partSize, data.count)
        let part = data.withBytes { Secret(bytes: $0[start..<end]) }
        guard end < data.count else { return ExportCache.Reply(data: part) }
        transfers.keep(Transfers.Download(data: data, position: end, expiry: expiry(of: id)), as: id)
        return ExportCache.Reply(data: part, remaining: Int64(data.count - end), next: id)
    }

    /// Beside the event loop, from the cache as it is at this moment.
    @concurrent
    private static func write(
        _ cache: CredentialCache, _ format: CacheFormat, of group: SharingGroup, now: Int64
    ) async throws(TokenError) -> Secret {
        var bytes = try cache.export(format, of: group, now: now)
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        return Secret(bytes: bytes)
    }

    private static let holdsSecrets = TokenError(
        .invalidDeveloperParameter,
        "an export holds refresh tokens in the clear; ask for it with includes_secrets (ssoctl: --include-secrets)")
    /// How often what has changed meanwhile is looked at again beside the event loop.
    private static let patience = 5
    /// As many as people read, and a list in a message may hold.
    private static let mostSkipped = 200
}

/// An import, ready to be written.
private struct PreparedImport: Sendable {
    var plan: ImportPlan
    var stored: [StoreChange]
    /// The refresh tokens that it takes the place of.
    var replaced: [Secret]

    init(
        _ foreign: ForeignCache, against cache: CredentialCache, in group: SharingGroup
    ) throws(TokenError) {
        plan = cache.changes(importing: foreign, in: group)
        stored = []
        for change in plan.changes { stored.append(try change.stored(in: group)) }
        replaced = cache.refreshTokens(replacedBy: plan.changes, in: group)
    }
}

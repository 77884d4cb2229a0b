internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Keeps a part of a cache; with the last part, reads the whole and takes it in.
    func importCache(_ request: ImportCache, from session: SessionID) -> Answer<ImportCache.Reply> {
        do throws(TokenError) {
            let id = request.importID ?? PKCE.randomText()
            var upload = try received(request, from: session)
            // Also while it is read: its memory is needed until then.
            upload.expiry = request.isLast ? nil : expiry(of: id)
            transfers.keep(upload, as: id)
            guard request.isLast else { return .now(.success(ImportCache.Reply(importID: id))) }
            return .later(
                later { [upload] owner async throws(TokenError) in
                    defer { owner.transfers.forget(id) }
                    return ImportCache.Reply(importID: id, report: try await owner.finish(upload))
                })
        } catch {
            return .now(.failure(error))
        }
    }

    /// What has come of a cache, this part included.
    private func received(
        _ request: ImportCache, from session: SessionID
    ) throws(TokenError) -> Transfers.Upload {
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
    func expiry(of id: String) -> Timers.Timer {
        after(Transfers.patience) { $0.transfers.forget(id) }
    }

    private func finish(_ upload: Transfers.Upload) async throws(TokenError) -> ImportCache.Report {
        let request = upload.request
        let foreign = try await Self.read(upload, now: options.now(), timeZone: options.timeZone)
        var report = try await take(foreign, in: request.sharingGroup, isDryRun: request.isDryRun)
        report.skipped = Array(report.skipped.prefix(Self.mostSkipped))
        return report
    }

    /// Beside the event loop: a file may be long, and hits must not wait for it.
    @concurrent
    private static func read(
        _ upload: Transfers.Upload, now: Int64, timeZone: LocalTimeZone
    ) async throws(TokenError) -> ForeignCache {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(upload.size)
        for part in upload.parts { part.withBytes { bytes += $0 } }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        return try ForeignCache(bytes, format: upload.request.format, now: now, timeZone: timeZone)
    }

    /// As many as people read, and a list in a message may hold.
    private static let mostSkipped = 200
}

internal import Foundation
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
            let (begun, file) = (upload.request, transfers.handOver(id))
            return .later(
                later { owner async throws(TokenError) in
                    defer { owner.transfers.forget(id) }
                    return ImportCache.Reply(importID: id, report: try await owner.finish(begun, file))
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

    private func finish(_ request: ImportCache, _ file: ForeignFile) async throws(TokenError) -> ImportCache.Report {
        let foreign = try await Self.read(
            file, request.format, now: options.now(), timeZone: options.timeZone, clouds: cache.clouds)
        return try await take(foreign, in: request.sharingGroup, isDryRun: request.isDryRun)
    }

    /// Beside the event loop: a file may be long, and hits must not wait for it.
    @concurrent
    private static func read(
        _ file: ForeignFile, _ format: CacheFormat, now: Int64, timeZone: TimeZone, clouds: CloudDirectory
    ) async throws(TokenError) -> ForeignCache {
        try ForeignCache(file, format: format, now: now, timeZone: timeZone, clouds: clouds)
    }
}

internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Writes a cache for another library and hands it out in parts: the cache of the moment when the export began.
    func exportCache(_ request: ExportCache, from session: SessionID) -> Answer<ExportCache.Reply> {
        guard request.includesSecrets else { return .now(.failure(Self.holdsSecrets)) }
        if let id = request.exportID {
            guard let download = transfers.continueDownload(id, from: session) else {
                return .now(.failure(Transfers.unknown))
            }
            return .later(later { owner async throws(TokenError) in try await owner.nextPart(of: download, as: id) })
        }
        if let refusal = transfers.refusal(of: 0) { return .now(.failure(refusal)) }
        return .later(
            later { owner async throws(TokenError) in
                let export = try await Self.startExport(
                    owner.cache, request.format, of: request.sharingGroup, now: owner.options.now())
                // Others may have begun meanwhile.
                if let refusal = owner.transfers.refusal(of: 0) { throw refusal }
                let download = Transfers.Download(export: export, session: session)
                let id = PKCE.randomText()
                owner.transfers.keep(download, as: id)
                return try await owner.nextPart(of: download, as: id)
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
}

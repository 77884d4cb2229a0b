internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Writes a cache for another library and hands it out in parts.
    func exportCache(_ request: ExportCache, from session: SessionID) -> Answer<ExportCache.Reply> {
        guard request.includesSecrets else { return .now(.failure(Self.holdsSecrets)) }
        if let id = request.exportID {
            guard let download = transfers.takeDownload(id, from: session) else {
                return .now(.failure(Transfers.unknown))
            }
            return .now(.success(part(of: download.data, from: download.position, as: id, session)))
        }
        if let refusal = transfers.refusal(of: 0) { return .now(.failure(refusal)) }
        return .later(
            later { owner async throws(TokenError) in
                let data = try await Self.write(
                    owner.cache, request.format, of: request.sharingGroup, now: owner.options.now())
                if let refusal = owner.transfers.refusal(of: data.count) { throw refusal }
                return owner.part(of: data, from: 0, as: PKCE.randomText(), session)
            })
    }

    private func part(
        of data: Secret, from start: Int, as id: String, _ session: SessionID
    ) -> ExportCache.Reply {
        let end = min(start + Transfers.partSize, data.count)
        let part = data.withBytes { Secret(bytes: $0[start..<end]) }
        guard end < data.count else { return ExportCache.Reply(data: part) }
        transfers.keep(
            Transfers.Download(data: data, session: session, position: end, expiry: expiry(of: id)), as: id)
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
}

package import TokenCache
package import TokenModel

extension CredentialCache {
    /// Starts an export of a sharing group's credentials in a format of another library, with refresh tokens in plain text. Later
    /// changes of the cache do not affect it.
    ///
    /// - Throws: `unsupportedFunctionality` (-51114) for a format that can only be imported.
    package func startExport(
        _ format: CacheFormat, of group: SharingGroup, now: Int64
    ) throws(TokenError) -> CacheExport {
        let partition = partition(group)
        switch format {
        case .msalJSON: return CacheExport(UnifiedExport(partition, clouds: clouds, now: now))
        case .adalArchive: return CacheExport(ADALArchiveExport(partition, clouds: clouds, now: now))
        case .adalJSON: throw ExportCache.isOnlyImported
        }
    }
}

/// An export of a cache, of which only the next part is in memory.
package struct CacheExport: Sendable {
    /// The length of the whole export in bytes.
    package let count: Int
    private var source: Source
    private var pending: [UInt8] = []

    /// The writer of the export: exactly one of the two is set. Optionals, so that it is changed in place.
    private struct Source {
        var unified: UnifiedExport?
        var archive: ADALArchiveExport?

        mutating func next() -> [UInt8]? { unified == nil ? archive?.next() : unified?.next() }
    }

    init(_ export: UnifiedExport) { self.init(Source(unified: export)) }

    init(_ export: ADALArchiveExport) { self.init(Source(archive: export)) }

    /// Runs the export once to find its length.
    private init(_ source: Source) {
        self.source = source
        var trial = source
        var count = 0
        while let piece = trial.next() { count += piece.count }
        self.count = count
    }

    /// Returns the next `limit` bytes, or the rest; nil at the end.
    package mutating func next(_ limit: Int) -> Secret? {
        while pending.count < limit, let piece = source.next() { pending += piece }
        guard !pending.isEmpty else { return nil }
        let part = Secret(bytes: pending.prefix(limit))
        let rest = Array(pending.dropFirst(limit))
        pending.wipe()
        pending = rest
        return part
    }
}

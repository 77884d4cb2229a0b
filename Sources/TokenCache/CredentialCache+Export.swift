package import TokenModel

extension CredentialCache {
    /// A sharing group's credentials as another library writes them, refresh tokens in the clear: those of this moment, whatever
    /// changes while they are written.
    ///
    /// - Throws: `unsupportedFunctionality` (-51114) for a format that is only read.
    package func startExport(
        _ format: CacheFormat, of group: SharingGroup, now: Int64
    ) throws(TokenError) -> CacheExport {
        let partition = partition(group)
        switch format {
        case .msalJSON: return CacheExport(UnifiedExport(partition, clouds: clouds, now: now))
        case .adalArchive: return CacheExport(ADALArchiveExport(partition, clouds: clouds, now: now))
        case .adalJSON:
            throw TokenError(
                .unsupportedFunctionality, "this format is only imported; export as msal-json or adal-archive")
        }
    }
}

/// A cache on its way out, of which only the next part is in memory.
package struct CacheExport: Sendable {
    /// How many bytes there are in all.
    package let count: Int
    private var source: Source
    private var pending: [UInt8] = []

    /// One of the two; optionals, so that it changes in its place.
    private struct Source {
        var unified: UnifiedExport?
        var archive: ADALArchiveExport?

        mutating func next() -> [UInt8]? { unified == nil ? archive?.next() : unified?.next() }
    }

    init(_ export: UnifiedExport) { self.init(Source(unified: export)) }

    init(_ export: ADALArchiveExport) { self.init(Source(archive: export)) }

    /// Rehearses the export, to know how long it will be.
    private init(_ source: Source) {
        self.source = source
        var rehearsal = source
        var count = 0
        while let piece = rehearsal.next() { count += piece.count }
        self.count = count
    }

    /// The next `most` bytes, or what is left; nil at the end.
    package mutating func next(_ most: Int) -> Secret? {
        while pending.count < most, let piece = source.next() { pending += piece }
        guard !pending.isEmpty else { return nil }
        let part = Secret(bytes: pending.prefix(most))
        let rest = Array(pending.dropFirst(most))
        pending.withUnsafeMutableBytes { wipeMemory($0) }
        pending = rest
        return part
    }
}

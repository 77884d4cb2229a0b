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
        case .msalJSON: return CacheExport(.unified(UnifiedExport(partition, clouds: clouds, now: now)))
        case .adalArchive: return CacheExport(.whole(ADALArchiveExport(partition, clouds: clouds, now: now).bytes, 0))
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

    enum Source {
        case unified(UnifiedExport)
        /// Bytes that are all there, from an index on.
        case whole([UInt8], Int)
        case nothing

        mutating func next() -> [UInt8]? {
            switch self {
            case .unified(var export):
                // Not held twice while it changes.
                self = .nothing
                defer { self = .unified(export) }
                return export.next()
            case .whole(let bytes, let start):
                let end = min(start + Self.pieceSize, bytes.count)
                self = .whole(bytes, end)
                return start == end ? nil : Array(bytes[start..<end])
            case .nothing: return nil
            }
        }

        private static let pieceSize = 64 * 1024
    }

    init(_ source: Source) {
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

public import TokenModel
internal import TokenWire

/// Other libraries' caches, in and out.
extension AgentClient {
    /// Takes another library's cache in: all of it that is of use, or nothing.
    ///
    /// The same cache twice changes nothing, and a token never gives way to an older one.
    ///
    /// - Parameters:
    ///   - data: the cache as the library wrote it; at most 64 MiB.
    ///   - isDryRun: whether only to say what would be imported.
    ///   - progress: called with the fraction that the agent has received.
    /// - Throws: `cacheBadFormat` (-51201) when it is not such a cache; `storeUnavailable` (-53008).
    public func importCache(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(TokenError) -> ImportCache.Report {
        var upload = CacheUpload(data, format: format, sharingGroup: sharingGroup, isDryRun: isDryRun)
        while true {
            let taken = try await call(upload.part)
            if let report = taken.report { return report }
            upload.advance(taken)
            progress?(upload.fraction)
        }
    }

    /// `importCache(_:format:sharingGroup:isDryRun:progress:)`, blocking.
    public func importCacheAndWait(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard
    ) throws(TokenError) -> ImportCache.Report {
        var upload = CacheUpload(data, format: format, sharingGroup: sharingGroup, isDryRun: false)
        while true {
            let taken = try wait(upload.part)
            if let report = taken.report { return report }
            upload.advance(taken)
        }
    }

    /// A sharing group's cache as another library writes it. It holds refresh tokens in the clear: keep it as you would
    /// keep passwords.
    ///
    /// - Parameters:
    ///   - includesSecrets: that you know.
    ///   - progress: called with the fraction that has come.
    /// - Throws: `invalidDeveloperParameter` (-51112) unless `includesSecrets`; `unsupportedFunctionality` (-51114) for
    ///   `.adalJSON`.
    public func exportCache(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(TokenError) -> Secret {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        while let request = download.request {
            let part = try await call(request)
            download.take(part)
            progress?(download.fraction)
        }
        return download.data
    }

    /// `exportCache(_:sharingGroup:includesSecrets:progress:)`, blocking.
    public func exportCacheAndWait(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool
    ) throws(TokenError) -> Secret {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        while let request = download.request {
            let part = try wait(request)
            download.take(part)
        }
        return download.data
    }
}

/// A cache on its way to the agent.
private struct CacheUpload {
    /// The next part.
    private(set) var part: ImportCache
    private let data: Secret
    private var sent: Int

    init(_ data: Secret, format: CacheFormat, sharingGroup: SharingGroup, isDryRun: Bool) {
        self.data = data
        sent = min(Self.partSize, data.count)
        part = ImportCache(
            format: format, sharingGroup: sharingGroup, isDryRun: isDryRun, data: Self.slice(data, 0..<sent),
            isLast: sent == data.count)
    }

    var fraction: Double { data.isEmpty ? 1 : Double(sent) / Double(data.count) }

    mutating func advance(_ reply: ImportCache.Reply) {
        let end = min(sent + Self.partSize, data.count)
        part.importID = reply.importID
        part.data = Self.slice(data, sent..<end)
        part.isLast = end == data.count
        sent = end
    }

    private static func slice(_ data: Secret, _ range: Range<Int>) -> Secret {
        data.withBytes { Secret(bytes: $0[range]) }
    }

    /// Leaves room in a request for everything else.
    private static let partSize = 48 * 1024
}

/// A cache on its way from the agent.
private struct CacheDownload {
    /// What to ask next; nil when all has come.
    private(set) var request: ExportCache?
    private var parts: [Secret] = []
    private var count = 0
    private var remaining: Int64 = 0

    init(_ format: CacheFormat, sharingGroup: SharingGroup, includesSecrets: Bool) {
        request = ExportCache(format: format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
    }

    var fraction: Double { remaining == 0 ? 1 : Double(count) / (Double(count) + Double(remaining)) }

    var data: Secret {
        if parts.count == 1 { return parts[0] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for part in parts { part.withBytes { bytes += $0 } }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        return Secret(bytes: bytes)
    }

    mutating func take(_ part: ExportCache.Reply) {
        parts.append(part.data)
        count += part.data.count
        remaining = part.remaining
        if let next = part.next { request?.exportID = next } else { request = nil }
    }
}

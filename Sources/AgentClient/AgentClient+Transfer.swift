public import TokenModel
internal import TokenWire

/// Other libraries' caches, in and out.
extension AgentClient {
    /// Takes another library's cache in: all of it that is of use, or nothing.
    ///
    /// The same cache twice changes nothing, and a token never gives way to one that is known to be older.
    ///
    /// - Parameters:
    ///   - data: the cache as the library wrote it; at most 256 MiB.
    ///   - isDryRun: whether only to say what would be imported.
    ///   - progress: called with the fraction that the agent has received.
    /// - Throws: `cacheBadFormat` (-51201) when it is not such a cache; `frameTooLarge` (-53002) when it is too long;
    ///   `storeUnavailable` (-53008).
    public func importCache(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(TokenError) -> ImportCache.Report {
        var slices = Slices(data)
        return try await importCache(format: format, sharingGroup: sharingGroup, isDryRun: isDryRun) {
            () throws(TokenError) in
            progress?(slices.fraction)
            return slices.next()
        }
    }

    /// Takes another library's cache in, as `importCache(_:format:sharingGroup:isDryRun:progress:)` does, without having the whole
    /// of it in memory.
    ///
    /// - Parameter next: the next bytes, as many as it likes; nil at the end. Called once more for each part that the agent has
    ///   received.
    /// - Throws: also what `next` throws; then nothing is imported.
    public func importCache(
        format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false,
        next: () throws(TokenError) -> Secret?
    ) async throws(TokenError) -> ImportCache.Report {
        var upload = CacheUpload(format: format, sharingGroup: sharingGroup, isDryRun: isDryRun)
        while true {
            let part = try upload.part(next)
            let taken = try await call(part, timeout: part.isLast ? Self.transferLimit : nil)
            if let report = taken.report { return report }
            upload.importID = taken.importID
        }
    }

    /// `importCache(_:format:sharingGroup:isDryRun:progress:)`, blocking.
    public func importCacheAndWait(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard
    ) throws(TokenError) -> ImportCache.Report {
        var slices = Slices(data)
        var upload = CacheUpload(format: format, sharingGroup: sharingGroup, isDryRun: false)
        while true {
            let part = try upload.part { () throws(TokenError) in slices.next() }
            let taken = try wait(part, timeout: part.isLast ? Self.transferLimit : nil)
            if let report = taken.report { return report }
            upload.importID = taken.importID
        }
    }

    /// A sharing group's cache as another library writes it. It holds refresh tokens in the clear: keep it as you would
    /// keep passwords.
    ///
    /// - Parameters:
    ///   - includesSecrets: must be true; confirms that the caller knows that the result holds refresh tokens.
    ///   - progress: called with the fraction that has come.
    /// - Throws: `invalidDeveloperParameter` (-51112) unless `includesSecrets`; `unsupportedFunctionality` (-51114) for
    ///   `.adalJSON`.
    public func exportCache(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(TokenError) -> Secret {
        var parts: [Secret] = []
        try await exportCache(
            format, sharingGroup: sharingGroup, includesSecrets: includesSecrets, progress: progress
        ) { (part) throws(TokenError) in parts.append(part) }
        return Self.joined(parts)
    }

    /// A sharing group's cache as another library writes it, part by part, so that the whole of it need not be in memory. All
    /// parts together are the cache of the moment of the call, whatever changes meanwhile.
    ///
    /// - Parameters:
    ///   - includesSecrets: must be true; confirms that the caller knows that the parts hold refresh tokens.
    ///   - progress: called with the fraction that has come.
    ///   - receive: called with each part, in order.
    /// - Throws: as `exportCache(_:sharingGroup:includesSecrets:progress:)` does, and what `receive` throws.
    public func exportCache(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool,
        progress: (@Sendable (Double) -> Void)? = nil, receive: (Secret) throws(TokenError) -> Void
    ) async throws(TokenError) {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        while let request = download.request {
            let part = try await call(request, timeout: Self.transferLimit)
            download.received(part)
            try receive(part.data)
            progress?(download.fraction)
        }
    }

    /// `exportCache(_:sharingGroup:includesSecrets:progress:)`, blocking.
    public func exportCacheAndWait(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool
    ) throws(TokenError) -> Secret {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        var parts: [Secret] = []
        while let request = download.request {
            let part = try wait(request, timeout: Self.transferLimit)
            download.received(part)
            parts.append(part.data)
        }
        return Self.joined(parts)
    }

    private static func joined(_ parts: [Secret]) -> Secret {
        if parts.count == 1 { return parts[0] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        for part in parts { part.withBytes { bytes += $0 } }
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        return Secret(bytes: bytes)
    }

    /// A cache of a hundred thousand accounts takes a while to be read and written.
    private static let transferLimit = Duration.seconds(900)
}

/// A cache on its way to the agent.
struct CacheUpload {
    /// The import that the parts belong to, once the agent has named it.
    var importID: String?
    private let format: CacheFormat
    private let sharingGroup: SharingGroup
    private let isDryRun: Bool
    /// What has been read and not been sent.
    private var rest: Slices?
    private var isAtEnd = false

    init(format: CacheFormat, sharingGroup: SharingGroup, isDryRun: Bool) {
        self.format = format
        self.sharingGroup = sharingGroup
        self.isDryRun = isDryRun
    }

    /// The next part.
    mutating func part(_ next: () throws(TokenError) -> Secret?) throws(TokenError) -> ImportCache {
        let data = try slice(next)
        // The last part has to say that it is.
        try readAhead(next)
        return ImportCache(
            format: format, sharingGroup: sharingGroup, isDryRun: isDryRun, importID: importID,
            data: data ?? Secret(""), isLast: isAtEnd)
    }

    private mutating func slice(_ next: () throws(TokenError) -> Secret?) throws(TokenError) -> Secret? {
        try readAhead(next)
        return rest?.next()
    }

    /// Reads on where nothing is left to send.
    private mutating func readAhead(_ next: () throws(TokenError) -> Secret?) throws(TokenError) {
        while !isAtEnd, rest?.isAtEnd ?? true {
            guard let data = try next() else { return isAtEnd = true }
            rest = Slices(data)
        }
    }
}

/// Bytes cut into pieces that fit into requests.
struct Slices {
    private let data: Secret
    private var position = 0

    init(_ data: Secret) { self.data = data }

    var isAtEnd: Bool { position == data.count }

    /// How much has been handed out.
    var fraction: Double { data.isEmpty ? 1 : Double(position) / Double(data.count) }

    /// The next piece; nil at the end.
    mutating func next() -> Secret? {
        guard !isAtEnd else { return nil }
        let end = min(position + Self.size, data.count)
        defer { position = end }
        return data.withBytes { Secret(bytes: $0[position..<end]) }
    }

    /// Leaves room in a request for everything else.
    private static let size = 48 * 1024
}

/// A cache on its way from the agent.
struct CacheDownload {
    /// What to ask next; nil when all has come.
    private(set) var request: ExportCache?
    private var count = 0
    private var remaining: Int64 = 0

    init(_ format: CacheFormat, sharingGroup: SharingGroup, includesSecrets: Bool) {
        request = ExportCache(format: format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
    }

    var fraction: Double { remaining == 0 ? 1 : Double(count) / (Double(count) + Double(remaining)) }

    mutating func received(_ part: ExportCache.Reply) {
        count += part.data.count
        remaining = part.remaining
        if let next = part.next { request?.exportID = next } else { request = nil }
    }
}

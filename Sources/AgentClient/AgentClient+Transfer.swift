public import TokenModel
internal import TokenWire

/// Imports and exports of other libraries' caches.
extension AgentClient {
    /// Imports another library's cache: all of its usable entries, or none if it fails.
    ///
    /// Importing the same cache twice changes nothing. A token is never replaced by one that is known to be older.
    ///
    /// - Parameters:
    ///   - data: the cache as the library wrote it; at most 256 MiB.
    ///   - format: the library's format.
    ///   - sharingGroup: the sharing group that gets the accounts.
    ///   - isDryRun: whether to report what would be imported, without importing it.
    ///   - progress: called in the calling task, in order, with the fraction from 0 to 1 that the agent has received, after each part but
    ///     the last.
    /// - Throws: `cacheBadFormat` (-51201) if `data` is not in this format; `frameTooLarge` (-53002) if all imports in progress together are
    ///   longer than 256 MiB; `timedOut` (-53006) if it is not read within two minutes or not saved within 30 seconds;
    ///   `interactionInProgress` (-51710) if eight imports and exports are in progress, or four of this process; `sessionCanceled` (-51701)
    ///   if the connection has closed; `storeUnavailable` (-53008).
    public func importCache(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws(TokenError) -> ImportCache.Report {
        var (slices, received) = (Slices(data), 0)
        return try await upload(CacheUpload(format: format, sharingGroup: sharingGroup, isDryRun: isDryRun)) { count in
            received += count
            progress?(Double(received) / Double(data.count))
        } next: {
            () throws(TokenError) in
            slices.next()
        }
    }

    /// Imports another library's cache, as `importCache(_:format:sharingGroup:isDryRun:progress:)` does, without having
    /// all of it in memory.
    ///
    /// - Parameters:
    ///   - format: the library's format.
    ///   - sharingGroup: the sharing group that gets the accounts.
    ///   - isDryRun: whether to report what would be imported, without importing it.
    ///   - next: returns the next bytes, any number of them; nil at the end. Called one request ahead of what the agent has
    ///     received.
    /// - Throws: also what `next` throws; then nothing is imported. `sessionCanceled` (-51701) if it takes longer than 60 seconds to return.
    public func importCache(
        format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false,
        next: () throws(TokenError) -> Secret?
    ) async throws(TokenError) -> ImportCache.Report {
        return try await upload(
            CacheUpload(format: format, sharingGroup: sharingGroup, isDryRun: isDryRun), received: { _ in }, next: next)
    }

    /// Sends a cache, part by part.
    ///
    /// - Parameter received: called with the number of bytes of each part but the last, after the agent has received it.
    private func upload(
        _ cache: CacheUpload, received: (Int) -> Void, next: () throws(TokenError) -> Secret?
    ) async throws(TokenError) -> ImportCache.Report {
        var upload = cache
        while true {
            let part = try upload.part(next)
            let reply = try await call(part, timeout: part.isLast ? Self.transferLimit : nil)
            if let report = try upload.report(in: reply, to: part) { return report }
            received(part.data.count)
        }
    }

    /// The blocking form of `importCache(_:format:sharingGroup:isDryRun:progress:)`. Blocks the calling thread until the agent has answered.
    ///
    /// - Parameters:
    ///   - data: the cache as the library wrote it; at most 256 MiB.
    ///   - format: the library's format.
    ///   - sharingGroup: the sharing group that gets the accounts.
    ///   - keepsSignOuts: whether entries are skipped of an account that their app has signed out of, or that was signed out everywhere.
    /// - Throws: as that method.
    public func importCacheAndWait(
        _ data: Secret, format: CacheFormat, sharingGroup: SharingGroup = .standard, keepsSignOuts: Bool = false
    ) throws(TokenError) -> ImportCache.Report {
        var slices = Slices(data)
        var upload = CacheUpload(
            format: format, sharingGroup: sharingGroup, isDryRun: false, keepsSignOuts: keepsSignOuts)
        while true {
            let part = try upload.part { () throws(TokenError) in slices.next() }
            let reply = try wait(part, timeout: part.isLast ? Self.transferLimit : nil)
            if let report = try upload.report(in: reply, to: part) { return report }
        }
    }

    /// Exports the cache of a sharing group in the format of another library.
    ///
    /// The result holds refresh tokens in clear text: store it as you would store passwords.
    ///
    /// - Parameters:
    ///   - format: the format of the library that is to read it.
    ///   - sharingGroup: the sharing group whose accounts are exported.
    ///   - includesSecrets: must be true; confirms that the caller knows that the result holds refresh tokens.
    ///   - progress: called in the calling task, in order, with the fraction from 0 to 1 that has arrived.
    /// - Throws: `requestDenied` (-53011) if the access policy refuses it, or if it has to be confirmed by a person and is not;
    ///   `invalidDeveloperParameter` (-51112) unless `includesSecrets`; `unsupportedFunctionality` (-51114) for `.adalJSON`;
    ///   `interactionInProgress` (-51710) if eight imports and exports are in progress, or four of this process; `sessionCanceled` (-51701)
    ///   if the connection has closed; `storeUnavailable` (-53008); `malformedMessage` (-53001) if the export does not end.
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

    /// Exports the cache of a sharing group in the format of another library, part by part, without having all of it in
    /// memory. The parts are a snapshot of the cache at the time of the call.
    ///
    /// - Parameters:
    ///   - format: the format of the library that is to read it.
    ///   - sharingGroup: the sharing group whose accounts are exported.
    ///   - includesSecrets: must be true; confirms that the caller knows that the parts hold refresh tokens.
    ///   - progress: called in the calling task, in order, with the fraction from 0 to 1 that has arrived.
    ///   - receive: called with each part, in order.
    /// - Throws: as `exportCache(_:sharingGroup:includesSecrets:progress:)` does, and what `receive` throws. `sessionCanceled` (-51701)
    ///   if it takes longer than 60 seconds to return.
    public func exportCache(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool,
        progress: (@Sendable (Double) -> Void)? = nil, receive: (Secret) throws(TokenError) -> Void
    ) async throws(TokenError) {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        while let request = download.request {
            let part = try await call(request, timeout: Self.transferLimit)
            try download.received(part)
            try receive(part.data)
            progress?(download.fraction)
        }
    }

    /// The blocking form of `exportCache(_:sharingGroup:includesSecrets:progress:)`. Blocks the calling thread until the agent has answered.
    ///
    /// - Throws: as that method.
    public func exportCacheAndWait(
        _ format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool
    ) throws(TokenError) -> Secret {
        var download = CacheDownload(format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
        var parts: [Secret] = []
        while let request = download.request {
            let part = try wait(request, timeout: Self.transferLimit)
            try download.received(part)
            parts.append(part.data)
        }
        return Self.joined(parts)
    }

    private static func joined(_ parts: [Secret]) -> Secret {
        if parts.count == 1 { return parts[0] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        for part in parts { part.withBytes { bytes += $0 } }
        defer { bytes.wipe() }
        return Secret(bytes: bytes)
    }

    /// The time limit of an import or export; a cache of a hundred thousand accounts takes minutes to read and to
    /// write.
    private static let transferLimit = Duration.seconds(900)
}

/// The state of an import: splits the cache into requests.
struct CacheUpload {
    /// The ID that the agent gave to the import; nil before its first reply.
    private var importID: String?
    private let format: CacheFormat
    private let sharingGroup: SharingGroup
    private let isDryRun: Bool
    private let keepsSignOuts: Bool
    /// The bytes that have been read and not been sent.
    private var rest: Slices?
    private var isAtEnd = false

    init(format: CacheFormat, sharingGroup: SharingGroup, isDryRun: Bool, keepsSignOuts: Bool = false) {
        self.format = format
        self.sharingGroup = sharingGroup
        self.isDryRun = isDryRun
        self.keepsSignOuts = keepsSignOuts
    }

    /// Returns the request with the next part of the cache.
    mutating func part(_ next: () throws(TokenError) -> Secret?) throws(TokenError) -> ImportCache {
        let data = try slice(next)
        // Reads one part ahead, because the request with the last part has to say so.
        try readAhead(next)
        return ImportCache(
            format: format, sharingGroup: sharingGroup, isDryRun: isDryRun, importID: importID,
            data: data ?? Secret(""), isLast: isAtEnd, keepsSignOuts: keepsSignOuts)
    }

    /// Returns the report, with which the import has ended; nil if the agent waits for the next part.
    ///
    /// - Throws: `malformedMessage` (-53001) if the agent waits for more than the last part.
    mutating func report(in reply: ImportCache.Reply, to part: ImportCache) throws(TokenError) -> ImportCache.Report? {
        if let report = reply.report { return report }
        guard !part.isLast else {
            throw TokenError(.malformedMessage, "the agent has replied to the last part of the import without a report")
        }
        importID = reply.importID
        return nil
    }

    private mutating func slice(_ next: () throws(TokenError) -> Secret?) throws(TokenError) -> Secret? {
        try readAhead(next)
        return rest?.next()
    }

    /// Reads from `next` unless there are bytes left to send.
    private mutating func readAhead(_ next: () throws(TokenError) -> Secret?) throws(TokenError) {
        while !isAtEnd, rest?.isAtEnd ?? true {
            guard let data = try next() else { return isAtEnd = true }
            rest = Slices(data)
        }
    }
}

/// A byte string that is split into pieces of the size of a request.
struct Slices {
    private let data: Secret
    private var position = 0

    init(_ data: Secret) { self.data = data }

    var isAtEnd: Bool { position == data.count }

    /// Returns the next piece; nil at the end.
    mutating func next() -> Secret? {
        guard !isAtEnd else { return nil }
        let end = min(position + Self.size, data.count)
        defer { position = end }
        return data.withBytes { Secret(bytes: $0[position..<end]) }
    }

    /// The size of a piece in bytes, which leaves room in a request for its other fields.
    private static let size = 48 * 1024
}

/// The state of an export: the next request to send.
struct CacheDownload {
    /// The next request; nil after the last reply.
    private(set) var request: ExportCache?
    private var count = 0
    private var remaining: Int64 = 0
    private var limits = ListLimits.ofExport

    init(_ format: CacheFormat, sharingGroup: SharingGroup, includesSecrets: Bool) {
        request = ExportCache(format: format, sharingGroup: sharingGroup, includesSecrets: includesSecrets)
    }

    /// The fraction of the export that has arrived.
    var fraction: Double { remaining == 0 ? 1 : Double(count) / (Double(count) + Double(remaining)) }

    /// Notes the part that has arrived, and the request for the next one.
    ///
    /// - Throws: `malformedMessage` (-53001) if the export does not end.
    mutating func received(_ part: ExportCache.Reply) throws(TokenError) {
        try limits.subtract(part.data.count, of: "export")
        count += part.data.count
        remaining = max(part.remaining, 0)
        if let next = part.next { request?.exportID = next } else { request = nil }
    }
}

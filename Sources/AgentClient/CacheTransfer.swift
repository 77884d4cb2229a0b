internal import TokenModel

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

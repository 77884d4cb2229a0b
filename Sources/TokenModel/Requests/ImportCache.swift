/// Take another library's cache in, a part at a time. Answered with `ImportCache.Reply`.
///
/// PROTOCOL.md, "import_cache".
public struct ImportCache: Sendable, Equatable {
    /// How the cache is written.
    public var format: CacheFormat
    /// The partition of the agent's cache to import into.
    public var sharingGroup: SharingGroup
    /// Whether only to say what would be imported.
    public var isDryRun: Bool
    /// The import that this part belongs to: the first part's reply names it; nil in the first part.
    public var importID: String?
    /// The next bytes of the cache; at most 48 KiB.
    public var data: Secret
    /// Whether these are the last.
    public var isLast: Bool

    /// A part of a cache.
    public init(
        format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false, importID: String? = nil,
        data: Secret, isLast: Bool
    ) {
        self.format = format
        self.sharingGroup = sharingGroup
        self.isDryRun = isDryRun
        self.importID = importID
        self.data = data
        self.isLast = isLast
    }

    /// Where the import stands.
    public struct Reply: Sendable, Equatable {
        /// Names the import in the next part.
        public var importID: String
        /// What came of it; nil until the last part.
        public var report: Report?

        /// A reply.
        public init(importID: String, report: Report? = nil) {
            self.importID = importID
            self.report = report
        }
    }

    /// What an import took and what it left.
    public struct Report: Sendable, Equatable {
        /// How many accounts, new or with news.
        public var accounts: Int64
        /// How many refresh tokens.
        public var refreshTokens: Int64
        /// How many access tokens.
        public var accessTokens: Int64
        /// How many ID tokens.
        public var idTokens: Int64
        /// What was left out, or kept without being of use; the first of them when there are very many.
        public var skipped: [Skipped]
        /// How many were, in all.
        public var skippedCount: Int64

        /// A report.
        public init(
            accounts: Int64 = 0, refreshTokens: Int64 = 0, accessTokens: Int64 = 0, idTokens: Int64 = 0,
            skipped: [Skipped] = [], skippedCount: Int64 = 0
        ) {
            self.accounts = accounts
            self.refreshTokens = refreshTokens
            self.accessTokens = accessTokens
            self.idTokens = idTokens
            self.skipped = skipped
            self.skippedCount = skippedCount
        }
    }

    /// An entry of a cache that was not imported.
    public struct Skipped: Sendable, Equatable {
        /// What it was, in words; never a secret.
        public var entry: String
        /// Why it was left out.
        public var reason: String

        /// An entry and why.
        public init(entry: String, reason: String) {
            self.entry = entry
            self.reason = reason
        }
    }
}

extension ImportCache: AgentRequest {
    package static let number: UInt32 = 29

    /// Of any part but the first, the agent would add the bytes twice.
    package var isRepeatable: Bool { importID == nil }
}

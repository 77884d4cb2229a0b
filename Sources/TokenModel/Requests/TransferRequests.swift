/// The format of another library's token cache.
@nonexhaustive public enum CacheFormat: Int32, Sendable, CaseIterable {
    /// The JSON object of MSAL for Python, Go, Java, .NET and Node.
    case msalJSON = 1
    /// The JSON list of ADAL for Python and Node; import only.
    case adalJSON = 2
    /// The keyed archive of ADAL for Objective-C: a keychain item or a macOS cache.
    case adalArchive = 3
}

/// Imports another library's cache, part by part. The reply is `ImportCache.Reply`.
///
/// PROTOCOL.md, "import_cache".
public struct ImportCache: Sendable, Equatable {
    /// The format of the cache.
    public var format: CacheFormat
    /// The partition of the agent's cache into which to import.
    public var sharingGroup: SharingGroup
    /// Whether only to report what would be imported.
    public var isDryRun: Bool
    /// The identifier of the import, from the reply to the first part; nil in the first part.
    public var importID: String?
    /// The next part of the cache: as many bytes as fit into a request of 64 KiB. `AgentClient` sends 48 KiB.
    public var data: Secret
    /// Whether this is the last part.
    public var isLast: Bool
    /// Whether entries are skipped of an account that their app has signed out of, or that was signed out everywhere: for a file that an
    /// app keeps, and that may be older than the sign-out.
    public var keepsSignOuts: Bool

    /// Creates the request.
    public init(
        format: CacheFormat, sharingGroup: SharingGroup = .standard, isDryRun: Bool = false, importID: String? = nil,
        data: Secret, isLast: Bool, keepsSignOuts: Bool = false
    ) {
        self.format = format
        self.sharingGroup = sharingGroup
        self.isDryRun = isDryRun
        self.importID = importID
        self.data = data
        self.isLast = isLast
        self.keepsSignOuts = keepsSignOuts
    }

    /// The identifier and, after the last part, the report of the import.
    public struct Reply: Sendable, Equatable {
        /// The identifier of the import, for the next part.
        public var importID: String
        /// The report; nil until the last part.
        public var report: Report?

        /// Creates the reply.
        public init(importID: String, report: Report? = nil) {
            self.importID = importID
            self.report = report
        }
    }

    /// The numbers of imported and skipped entries.
    public struct Report: Sendable, Equatable {
        /// The number of accounts that are new or have changed.
        public var accounts: Int64
        /// The number of refresh tokens.
        public var refreshTokens: Int64
        /// The number of access tokens.
        public var accessTokens: Int64
        /// The number of ID tokens.
        public var idTokens: Int64
        /// The first 200 entries that were skipped, or are kept for export only.
        public var skipped: [Skipped]
        /// The number of all skipped entries.
        public var skippedCount: Int64

        /// Creates a report.
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

    /// An entry that was skipped.
    public struct Skipped: Sendable, Equatable {
        /// A description of the entry, without secrets.
        public var entry: String
        /// Why the entry was skipped, in words for people.
        public var reason: String

        /// Creates a skipped entry.
        public init(entry: String, reason: String) {
            self.entry = entry
            self.reason = reason
        }
    }
}

extension ImportCache: AgentRequest {
    package static let number: UInt32 = 29

    /// The agent would append the bytes of a later part twice.
    package var isRepeatable: Bool { importID == nil }

    package var purpose: String? {
        "import accounts and tokens into the sharing group \(UntrustedText.clean(sharingGroup.name, limit: 80))"
    }
}

/// Exports a sharing group in the format of another library, with refresh tokens, part by part. The reply is
/// `ExportCache.Reply`.
///
/// PROTOCOL.md, "export_cache".
public struct ExportCache: Sendable, Equatable {
    /// The format: `.msalJSON` or `.adalArchive`.
    public var format: CacheFormat
    /// The partition of the agent's cache.
    public var sharingGroup: SharingGroup
    /// Must be true; confirms that the caller knows that the export holds refresh tokens in plain text.
    public var includesSecrets: Bool
    /// The cursor: `next` of the previous part; nil for the first.
    public var exportID: String?

    /// Creates the request, by default for the first part.
    public init(
        format: CacheFormat, sharingGroup: SharingGroup = .standard, includesSecrets: Bool, exportID: String? = nil
    ) {
        self.format = format
        self.sharingGroup = sharingGroup
        self.includesSecrets = includesSecrets
        self.exportID = exportID
    }

    /// A part of the export.
    public struct Reply: Sendable, Equatable {
        /// The bytes of the part.
        public var data: Secret
        /// The number of bytes that follow.
        public var remaining: Int64
        /// The cursor for the next part, for `exportID`; nil after the last.
        public var next: String?

        /// Creates the reply.
        public init(data: Secret, remaining: Int64 = 0, next: String? = nil) {
            self.data = data
            self.remaining = remaining
            self.next = next
        }
    }
}

extension ExportCache: AgentRequest {
    package static let number: UInt32 = 30

    /// The agent does not keep a part that it has sent.
    package var isRepeatable: Bool { exportID == nil }

    package var purpose: String? {
        "export every refresh token of the sharing group \(UntrustedText.clean(sharingGroup.name, limit: 80))"
    }

    /// - Throws: `invalidDeveloperParameter` (-51112) without `includesSecrets`; `unsupportedFunctionality` (-51114) for a format that can
    ///   only be imported.
    package func validate() throws(TokenError) {
        guard includesSecrets else {
            throw TokenError(
                .invalidDeveloperParameter,
                "an export holds refresh tokens in the clear; ask for it with includes_secrets (ssoctl: --include-secrets)"
            )
        }
        guard format != .adalJSON else { throw Self.isOnlyImported }
    }

    /// The error for a format that can only be imported.
    package static let isOnlyImported = TokenError(
        .unsupportedFunctionality, "this format is only imported; export as msal-json or adal-archive")
}

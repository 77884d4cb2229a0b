/// Write a sharing group's cache as another library does, refresh tokens and all. Answered with `ExportCache.Reply`,
/// a part at a time.
///
/// PROTOCOL.md, "export_cache".
public struct ExportCache: Sendable, Equatable {
    /// How to write it: `.msalJSON` or `.adalArchive`.
    public var format: CacheFormat
    /// The partition of the agent's cache.
    public var sharingGroup: SharingGroup
    /// That whoever asks knows: the export holds refresh tokens in the clear. Without it the request fails.
    public var includesSecrets: Bool
    /// The export to go on with: the last part's `next`; nil starts one.
    public var exportID: String?

    /// A request for the first part unless `exportID` says otherwise.
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
        /// The next bytes.
        public var data: Secret
        /// How many bytes are still to come.
        public var remaining: Int64
        /// What to pass as `exportID` for the next part; nil after the last.
        public var next: String?

        /// A part.
        public init(data: Secret, remaining: Int64 = 0, next: String? = nil) {
            self.data = data
            self.remaining = remaining
            self.next = next
        }
    }
}

extension ExportCache: AgentRequest {
    package static let number: UInt32 = 30

    /// A part that was sent is not kept.
    package var isRepeatable: Bool { exportID == nil }
}

/// List what a sharing group holds, credential by credential, as ADAL shows its cache.
/// Answered with `ListCredentials.Reply`, a page at a time.
///
/// Access tokens come as they are, refresh tokens without their secret. PROTOCOL.md, "list_credentials".
public struct ListCredentials: Sendable, Equatable {
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// Only access tokens of this generation of endpoints; nil lists those of both. Refresh tokens have none.
    public var version: OAuthVersion?
    /// Where to go on: the last page's `next`.
    public var after: String?

    /// A list of everything in `sharingGroup`, unless `version` says less.
    public init(sharingGroup: SharingGroup = .standard, version: OAuthVersion? = nil, after: String? = nil) {
        self.sharingGroup = sharingGroup
        self.version = version
        self.after = after
    }

    /// One page of credentials, in a stable order.
    public struct Reply: Sendable, Equatable {
        /// The credentials.
        public var credentials: [Credential]
        /// What to pass as `after` for the next page; nil on the last.
        public var next: String?

        /// A page.
        public init(credentials: [Credential], next: String? = nil) {
            self.credentials = credentials
            self.next = next
        }
    }
}

extension ListCredentials: AgentRequest { package static let number: UInt32 = 21 }

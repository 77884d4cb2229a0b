/// Returns the credentials of a sharing group page by page, as ADAL shows its cache. The reply is `ListCredentials.Reply`.
///
/// The secrets of access tokens are included unless the request says otherwise, those of refresh tokens never. PROTOCOL.md,
/// "list_credentials".
public struct ListCredentials: Sendable, Equatable {
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// Only access tokens of this generation of endpoints; nil for both. Refresh tokens belong to both.
    public var version: OAuthVersion?
    /// The cursor: `next` of the previous page; nil for the first.
    public var after: String?
    /// Whether to leave out the secrets of access tokens, and ID tokens. An agent of an earlier version returns them
    /// nevertheless.
    public var withoutSecrets: Bool

    /// Creates the request, by default for the credentials with the secrets of access tokens.
    public init(
        sharingGroup: SharingGroup = .standard, version: OAuthVersion? = nil, after: String? = nil,
        withoutSecrets: Bool = false
    ) {
        self.sharingGroup = sharingGroup
        self.version = version
        self.after = after
        self.withoutSecrets = withoutSecrets
    }

    /// A page of credentials, in a stable order.
    public struct Reply: Sendable, Equatable {
        /// The credentials of this page.
        public var credentials: [Credential]
        /// The cursor for the next page, for `after`; nil on the last page.
        public var next: String?

        /// Creates the reply.
        public init(credentials: [Credential], next: String? = nil) {
            self.credentials = credentials
            self.next = next
        }
    }
}

extension ListCredentials: AgentRequest { package static let number: UInt32 = 21 }

/// Removes one credential. The reply is `RemoveCredential.Reply`.
///
/// PROTOCOL.md, "remove_credential".
public struct RemoveCredential: Sendable, Equatable {
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The identifier of the credential.
    public var id: String

    /// Creates the request.
    public init(sharingGroup: SharingGroup = .standard, id: String) {
        self.sharingGroup = sharingGroup
        self.id = id
    }

    /// The result of the removal.
    public struct Reply: Sendable, Equatable {
        /// Whether there was such a credential.
        public var removed: Bool

        /// Creates the reply.
        public init(removed: Bool) {
            self.removed = removed
        }
    }
}

extension RemoveCredential: AgentRequest { package static let number: UInt32 = 22 }

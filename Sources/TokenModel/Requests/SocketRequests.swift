/// Opens a further socket, on which the agent serves the tokens of some apps to a sandbox, a container or other users. The reply is
/// `PublishedSocket`.
///
/// PROTOCOL.md, "publish_socket".
public struct PublishSocket: Sendable, Equatable {
    /// The absolute path of the socket, at most 103 bytes, in a folder that belongs to the user and that nobody else can change.
    public var path: String
    /// The IDs of the users who may connect, at most 16; if it is empty, the agent's own user.
    public var userIDs: [UInt32]
    /// The apps whose tokens and accounts are served, 1 to 32.
    public var clientIDs: [ClientID]
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The scopes that tokens may have, at most 64, a v1 resource as `ScopeSet(resource:)`; if it is empty, every scope.
    public var scopes: ScopeSet
    /// The authorities that requests may name, at most 8; only accounts of their providers are listed. If it is empty, those that lead to
    /// the account's home tenant; lists then have the accounts of every provider.
    public var authorities: [Authority]
    /// The identifier or the username of the account that is served; nil for every account.
    public var account: String?
    /// The time after which the socket is closed, 1 to 86,400 seconds.
    public var lifetime: Int64
    /// The name of the socket in lists and in the audit log, at most 64 bytes, not beginning with a slash; nil for the path.
    public var label: String?

    /// Creates the request, by default for the agent's own user and for eight hours.
    public init(
        path: String, userIDs: [UInt32] = [], clientIDs: [ClientID], sharingGroup: SharingGroup = .standard,
        scopes: ScopeSet = ScopeSet([]), authorities: [Authority] = [], account: String? = nil,
        lifetime: Int64 = PublishSocket.standardLifetime, label: String? = nil
    ) {
        self.path = path
        self.userIDs = userIDs
        self.clientIDs = clientIDs
        self.sharingGroup = sharingGroup
        self.scopes = scopes
        self.authorities = authorities
        self.account = account
        self.lifetime = lifetime
        self.label = label
    }

    /// The lifetime if a request names none: eight hours, in seconds.
    public static let standardLifetime: Int64 = 8 * 3600
    /// The longest lifetime: a day, in seconds.
    public static let longestLifetime: Int64 = 24 * 3600
}

/// A socket that the agent has published.
public struct PublishedSocket: Sendable, Equatable {
    /// The absolute path of the socket.
    public var path: String
    /// The name in lists and in the audit log.
    public var label: String
    /// The users who may connect.
    public var userIDs: [UInt32]
    /// The apps whose tokens and accounts are served.
    public var clientIDs: [ClientID]
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The scopes that tokens may have; empty for every scope.
    public var scopes: ScopeSet
    /// The authorities that requests may name, as in `PublishSocket.authorities`; empty for those that lead to the account's home tenant.
    public var authorities: [Authority]
    /// The account that is served; empty for every account.
    public var account: AccountReference
    /// The time at which the socket is closed, in seconds since 1970.
    public var expiresOn: Int64
    /// The number of open connections.
    public var connections: Int64

    /// Creates the reply.
    public init(
        path: String, label: String, userIDs: [UInt32], clientIDs: [ClientID], sharingGroup: SharingGroup,
        scopes: ScopeSet, authorities: [Authority], account: AccountReference, expiresOn: Int64, connections: Int64
    ) {
        self.path = path
        self.label = label
        self.userIDs = userIDs
        self.clientIDs = clientIDs
        self.sharingGroup = sharingGroup
        self.scopes = scopes
        self.authorities = authorities
        self.account = account
        self.expiresOn = expiresOn
        self.connections = connections
    }
}

extension PublishSocket: AgentRequest {
    package typealias Reply = PublishedSocket
    package static let number: UInt32 = 34

    /// False: the path is taken when the request is repeated.
    package var isRepeatable: Bool { false }

    /// Who gets access comes first, and the lists that a long value could make unreadable last.
    package var purpose: String? {
        let users = userIDs.isEmpty ? "your own user" : "users " + userIDs.map { "\($0)" }.joined(separator: ", ")
        let account = account.map { "the account \(UntrustedText.clean($0, limit: 80))" } ?? "every account"
        let scopeCount = scopes.isEmpty ? "every scope" : Phrases.count(scopes.scopes.count, "scope")
        let apps =
            clientIDs.count == 1
            ? "the app \(UntrustedText.clean(clientIDs[0].text, limit: 80))" : Phrases.count(clientIDs.count, "app")
        var lists: [String] = []
        if clientIDs.count != 1 { lists.append(clientIDs.map(\.text).joined(separator: " ")) }
        if !scopes.isEmpty { lists.append(scopes.target) }
        if authorities.count > 1 { lists.append(authorities.map(\.url).joined(separator: " ")) }
        let text =
            "publish a socket at \(UntrustedText.clean(path, limit: 128)) to \(users) for \(Phrases.duration(lifetime)), "
            + "with tokens of \(account), for \(apps), with \(scopeCount)\(place)"
            + (lists.isEmpty ? "" : ": \(lists.joined(separator: "; "))")
        return UntrustedText.clean(text, limit: 640)
    }

    /// The authorities, which open further tenants and providers to the peers, and the sharing group, in the question.
    private var place: String {
        var place = authorities.count > 1 ? ", at \(authorities.count) authorities" : ""
        if authorities.count == 1 { place = ", at \(UntrustedText.clean(authorities[0].url, limit: 128))" }
        guard sharingGroup != .standard else { return place }
        return "\(place), of the sharing group \(UntrustedText.clean(sharingGroup.name, limit: 80))"
    }
}

extension PublishSocket {
    /// - Throws: `invalidDeveloperParameter` (-51112) for values that no socket can have.
    package func validate() throws(TokenError) {
        try require(path.hasPrefix("/") && ValueLimits.isPrintable(path), "the path has to be absolute")
        try require(
            userIDs.count <= Self.maximumUsers && !userIDs.contains(.max),
            "a socket has at most \(Self.maximumUsers) users")
        try require(
            (1...Self.maximumApps).contains(clientIDs.count), "a socket serves 1 to \(Self.maximumApps) client IDs")
        try require(
            clientIDs.allSatisfy { ValueLimits.isIdentifier($0.text) },
            "a client ID has at most \(ValueLimits.identifier) bytes, and no control characters")
        try require(
            scopes.scopes.count <= Self.maximumScopes && scopes.isWithinLimits,
            "a socket has at most \(Self.maximumScopes) scopes")
        try require(
            authorities.count <= Self.maximumAuthorities, "a socket has at most \(Self.maximumAuthorities) authorities")
        try require((1...Self.longestLifetime).contains(lifetime), "the lifetime is 1 second to 24 hours")
        try require(
            ValueLimits.isIdentifier(sharingGroup.name),
            "the sharing group's name has at most \(ValueLimits.identifier) bytes, and no control characters")
        if let label {
            try require(
                label.utf8.count <= Self.maximumLabelBytes && ValueLimits.isPrintable(label)
                    && label.trimmedNonEmpty == label
                    && !label.hasPrefix("/"),
                "a label has at most \(Self.maximumLabelBytes) bytes, no control characters, and no slash in front")
        }
        let texts = clientIDs.map(\.text) + scopes.scopes + authorities.map(\.url)
        try require(
            texts.reduce(0) { $0 + $1.utf8.count } <= Self.maximumBytes,
            "the client IDs, scopes and authorities of a socket have at most \(Self.maximumBytes) bytes")
    }

    private func require(_ condition: Bool, _ rule: String) throws(TokenError) {
        guard condition else { throw TokenError(.invalidDeveloperParameter, "cannot publish the socket: \(rule)") }
    }

    // The limits of a socket. A list of all sockets has to fit into a reply.
    private static let maximumApps = 32
    /// As many as the helper process makes a socket for.
    package static let maximumUsers = 16
    private static let maximumScopes = 64
    private static let maximumAuthorities = 8
    private static let maximumLabelBytes = 64
    private static let maximumBytes = 16 * 1024
}

/// Returns the published sockets. The reply is `ListSockets.Reply`. PROTOCOL.md, "list_sockets".
public struct ListSockets: Sendable, Equatable {
    /// Creates the request.
    public init() {}

    /// The published sockets.
    public struct Reply: Sendable, Equatable {
        /// The sockets, the oldest first.
        public var sockets: [PublishedSocket]

        /// Creates the reply.
        public init(sockets: [PublishedSocket]) {
            self.sockets = sockets
        }
    }
}

extension ListSockets: AgentRequest { package static let number: UInt32 = 35 }

/// Closes a published socket and its connections, and removes its file. The reply is `UnpublishSocket.Reply`.
///
/// PROTOCOL.md, "unpublish_socket".
public struct UnpublishSocket: Sendable, Equatable {
    /// The path or the label.
    public var name: String

    /// Creates the request.
    public init(name: String) {
        self.name = name
    }

    /// The socket that was closed.
    public struct Reply: Sendable, Equatable {
        /// The socket's label; nil if there was no such socket.
        public var label: String?

        /// Creates the reply.
        public init(label: String? = nil) {
            self.label = label
        }
    }
}

extension UnpublishSocket: AgentRequest { package static let number: UInt32 = 36 }

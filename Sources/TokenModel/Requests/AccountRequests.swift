/// Returns the accounts of a sharing group that an app may see, page by page. The reply is `ListAccounts.Reply`.
///
/// PROTOCOL.md, "list_accounts".
public struct ListAccounts: Sendable, Equatable {
    /// The client ID of the app; nil for every account of the group.
    public var clientID: ClientID?
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// Only the account with this identifier.
    public var homeAccountID: HomeAccountID?
    /// Only accounts with this username, compared regardless of case.
    public var username: String?
    /// Only accounts with a tenant profile of this object ID.
    public var localAccountID: String?
    /// Whether to return only accounts for which the app or its family can acquire tokens silently, and from which it has
    /// not signed out. Without a client ID it has no effect.
    public var onlySignedIn: Bool
    /// The cursor: `next` of the previous page; nil for the first.
    public var after: String?
    /// See `ConfinableRequest.isConfined`.
    package var isConfined = false

    /// Creates the request, by default for signed-in accounts only.
    public init(
        clientID: ClientID?, sharingGroup: SharingGroup = .standard, homeAccountID: HomeAccountID? = nil,
        username: String? = nil, localAccountID: String? = nil, onlySignedIn: Bool = true, after: String? = nil
    ) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.homeAccountID = homeAccountID
        self.username = username
        self.localAccountID = localAccountID
        self.onlySignedIn = onlySignedIn
        self.after = after
    }

    /// A page of accounts, in a stable order.
    public struct Reply: Sendable, Equatable {
        /// The accounts of this page.
        public var accounts: [Account]
        /// The cursor for the next page, for `after`; nil on the last page.
        public var next: String?

        /// Creates the reply.
        public init(accounts: [Account], next: String? = nil) {
            self.accounts = accounts
            self.next = next
        }
    }
}

extension ListAccounts: ConfinableRequest { package static let number: UInt32 = 17 }

/// Returns the only account that is signed in to an app, and the one in the previous reply to the app. The reply is
/// `GetCurrentAccount.Reply`, whose account the agent saves for the next one.
///
/// Fails with `ambiguousAccount` (-51200) if several accounts are signed in. PROTOCOL.md, "get_current_account".
public struct GetCurrentAccount: Sendable, Equatable {
    /// The client ID of the app.
    public var clientID: ClientID
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// See `ConfinableRequest.isConfined`.
    package var isConfined = false

    /// Creates the request.
    public init(clientID: ClientID, sharingGroup: SharingGroup = .standard) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
    }

    /// The current and the previous account.
    public struct Reply: Sendable, Equatable {
        /// The account that is signed in; nil if there is none.
        public var account: Account?
        /// The account of the previous reply, without its tenant profiles; nil if there was none.
        public var previous: Account?

        /// Creates the reply.
        public init(account: Account? = nil, previous: Account? = nil) {
            self.account = account
            self.previous = previous
        }
    }
}

extension GetCurrentAccount: ConfinableRequest {
    package static let number: UInt32 = 24

    /// False: the reply to a repeated request would have the current account as the previous one.
    package var isRepeatable: Bool { false }
}

/// Signs an account out of an app or of all apps. The reply is `RemoveAccount.Reply`.
///
/// PROTOCOL.md, "remove_account".
public struct RemoveAccount: Sendable, Equatable {
    /// The extent of a removal.
    @nonexhaustive public enum Extent: Int32, Sendable {
        /// The tokens of this app, which is then signed out until its next sign-in, a `RedeemGrant`, or an import.
        case app = 1
        /// The account and the tokens of all apps for it.
        case account = 2
        /// Everything in the sharing group.
        case everything = 3
    }

    /// The client ID of the app.
    public var clientID: ClientID
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The account; it must not be empty unless `extent` is `.everything`.
    public var account: AccountReference
    /// The extent of the removal.
    public var extent: Extent
    /// The account's environment: another identity provider may have an account with the same identifier or username. Nil for
    /// the accounts of every identity provider.
    public var environment: String?
    /// Whether the reply has the pages that end the sessions of a browser. The agent may have to ask the identity providers for them, which
    /// delays the reply by five seconds at most.
    public var wantsSignOutPages: Bool
    /// See `ConfinableRequest.isConfined`.
    package var isConfined = false

    /// Creates the request, by default for the tokens of the app.
    public init(
        clientID: ClientID, sharingGroup: SharingGroup = .standard, account: AccountReference, extent: Extent = .app,
        environment: String? = nil, wantsSignOutPages: Bool = false
    ) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.account = account
        self.extent = extent
        self.environment = environment?.trimmedNonEmpty
        self.wantsSignOutPages = wantsSignOutPages
    }

    /// The result of the removal.
    public struct Reply: Sendable, Equatable {
        /// Whether anything has changed: something was removed, or an app without tokens of the account is signed out of it from now on.
        public var removed: Bool
        /// The URLs of the pages that end the sessions of a browser, one for each identity provider of the account whose page is known. Empty
        /// unless the request wants them, for `Extent.everything`, and from an agent of an earlier version.
        public var signOutPages: [String]

        /// Creates the reply.
        public init(removed: Bool, signOutPages: [String] = []) {
            self.removed = removed
            self.signOutPages = signOutPages
        }
    }
}

extension RemoveAccount: ConfinableRequest { package static let number: UInt32 = 18 }

/// List the accounts of a sharing group that an app may see. Answered with `ListAccounts.Reply`, a page at a time.
///
/// PROTOCOL.md, "list_accounts".
public struct ListAccounts: Sendable, Equatable {
    /// The app; nil lists every account of the group.
    public var clientID: ClientID?
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// Only the account with this identifier.
    public var homeAccountID: HomeAccountID?
    /// Only accounts with this name, without regard to case.
    public var username: String?
    /// Only accounts with a tenant profile of this object id.
    public var localAccountID: String?
    /// Only accounts that this app, or its family, can get tokens for silently and has not signed out of.
    public var onlySignedIn: Bool
    /// Where to go on: the last page's `next`.
    public var after: String?

    /// A list with the libraries' default: signed-in accounts only.
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

    /// One page of accounts, in a stable order.
    public struct Reply: Sendable, Equatable {
        /// The accounts; those whose home tenant is known come before others of the same name.
        public var accounts: [Account]
        /// What to pass as `after` for the next page; nil on the last.
        public var next: String?

        /// A page.
        public init(accounts: [Account], next: String? = nil) {
            self.accounts = accounts
            self.next = next
        }
    }
}

extension ListAccounts: AgentRequest { package static let number: UInt32 = 17 }

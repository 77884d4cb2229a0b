/// One identity as the cache knows it.
public struct Account: Sendable, Equatable {
    /// Which library's sign-in made the account known.
    public enum Source: Int32, Sendable {
        /// A sign-in through MSAL (v2 endpoint).
        case msal = 1
        /// A sign-in through ADAL (v1 endpoint), or an imported ADAL cache.
        case adal = 2
    }

    /// What identifies it in every tenant; nil for an account known only from an older ADAL cache.
    public var homeAccountID: HomeAccountID?
    /// The name people know it by; may change and is never a key.
    public var username: String?
    /// The environment it was saved under: the cloud's preferred cache host.
    public var environment: String
    /// Which library made it known.
    public var source: Source
    /// The account as each tenant sees it, the home tenant first; empty on a token result.
    public var tenantProfiles: [TenantProfile]
    /// The raw ID token that this app was issued in the home tenant; nil when there is none.
    public var homeIDToken: String?

    /// An account with these members.
    public init(
        homeAccountID: HomeAccountID?, username: String?, environment: String, source: Source,
        tenantProfiles: [TenantProfile] = [], homeIDToken: String? = nil
    ) {
        self.homeAccountID = homeAccountID
        self.username = username
        self.environment = environment
        self.source = source
        self.tenantProfiles = tenantProfiles
        self.homeIDToken = homeIDToken
    }

    /// How to name this account in a request.
    public var reference: AccountReference {
        AccountReference(homeAccountID: homeAccountID, username: username)
    }
}

/// An account as one tenant sees it.
public struct TenantProfile: Sendable, Equatable {
    /// The tenant.
    public var realm: String
    /// The account's object id in this tenant, in lower case; the `sub` claim where there is none.
    public var localAccountID: String?
    /// The name in this tenant.
    public var username: String?
    /// The environment it was saved under.
    public var environment: String
    /// Whether this is the account's own tenant.
    public var isHome: Bool
    /// The raw ID token that this app was issued in this tenant; nil when there is none.
    public var idToken: String?

    /// A profile with these members.
    public init(
        realm: String, localAccountID: String?, username: String?, environment: String, isHome: Bool,
        idToken: String? = nil
    ) {
        self.realm = realm
        self.localAccountID = localAccountID
        self.username = username
        self.environment = environment
        self.isHome = isHome
        self.idToken = idToken
    }
}

/// How an app names an account: by its home account ID, or by a username when it knows nothing better.
public struct AccountReference: Sendable, Hashable {
    /// Decides when present.
    public var homeAccountID: HomeAccountID?
    /// Compared without regard to case.
    public var username: String?

    /// A reference; blank names count as absent.
    public init(homeAccountID: HomeAccountID? = nil, username: String? = nil) {
        self.homeAccountID = homeAccountID
        self.username = username?.trimmedNonEmpty
    }

    /// Whether it names nobody.
    public var isEmpty: Bool { homeAccountID == nil && username == nil }
}

/// An account of the cache: one user at one identity provider.
public struct Account: Sendable, Equatable {
    /// The library that has brought the account's tokens.
    @nonexhaustive public enum Source: Int32, Sendable {
        /// MSAL (v2 endpoint), or both.
        case msal = 1
        /// ADAL (v1 endpoint), or an imported ADAL cache, and nothing else so far.
        case adal = 2
    }

    /// The identifier of the account, the same in every tenant; nil for an account known only from an older ADAL cache.
    public var homeAccountID: HomeAccountID?
    /// The name of the user, such as a mail address; nil if it is not known. It may change and is never a key.
    public var username: String?
    /// The environment under which the account is saved: the preferred cache host of its cloud.
    public var environment: String
    /// The library that has brought the account's tokens.
    public var source: Source
    /// The account's profile in each tenant, the home tenant first; empty in a token result.
    public var tenantProfiles: [TenantProfile]
    /// The ID token that was issued to this app in the home tenant; nil if there is none.
    public var homeIDToken: String?

    /// Creates an account.
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

    /// An upper bound of the account's size in a message without its profiles, in bytes.
    package var approximateSize: Int {
        128 + (homeAccountID?.text.utf8.count ?? 0) + (username?.utf8.count ?? 0) + environment.utf8.count
            + (homeIDToken?.utf8.count ?? 0)
    }

    /// The reference by which a request names this account.
    public var reference: AccountReference {
        AccountReference(homeAccountID: homeAccountID, username: username)
    }

    /// The username that MSAL returns if an ID token has none, as usual in B2C.
    package static let missingUsername = "Missing from the token response"

    /// The username if it is a name of the user's, which a sign-in page may be given.
    package var loginHint: String? { Self.loginHint(username) }

    /// The username of an account of MSAL, without the text that stands for a missing one.
    package static func loginHint(_ username: String?) -> String? { username == missingUsername ? nil : username }
}

/// The profile of an account in one tenant.
public struct TenantProfile: Sendable, Equatable {
    /// The ID of the tenant.
    public var realm: String
    /// The account's object ID in this tenant, or the `sub` claim if the issuer names none; in lower case. Nil if neither is known.
    public var localAccountID: String?
    /// The username in this tenant; nil if it is not known.
    public var username: String?
    /// The environment under which the profile is saved.
    public var environment: String
    /// Whether this is the account's home tenant.
    public var isHome: Bool
    /// The ID token that was issued to this app in this tenant; nil if there is none.
    public var idToken: String?

    /// Creates a profile.
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

    /// An upper bound of the profile's size in a message, in bytes.
    package var approximateSize: Int {
        128 + realm.utf8.count + (localAccountID?.utf8.count ?? 0) + (username?.utf8.count ?? 0)
            + environment.utf8.count
            + (idToken?.utf8.count ?? 0)
    }
}

/// A reference to an account: by its home account ID or, if the app does not know that, by its username.
public struct AccountReference: Sendable, Hashable {
    /// The identifier, which has precedence over the username.
    public var homeAccountID: HomeAccountID?
    /// The username, compared regardless of case.
    public var username: String?

    /// Creates a reference. A blank username counts as none.
    public init(homeAccountID: HomeAccountID? = nil, username: String? = nil) {
        self.homeAccountID = homeAccountID
        self.username = username?.trimmedNonEmpty
    }

    /// Whether the reference names no account.
    public var isEmpty: Bool { homeAccountID == nil && username == nil }
}

internal import CompatSupport
public import Foundation
package import TokenModel

/// An account in the agent's cache. Immutable.
///
/// Store `identifier` to find the account again; `username` may change.
open class MSALAccount: NSObject, MSALAccountProtocol, NSCopying {
    /// The name for display, which may change and does not identify the account.
    public let username: String?
    /// The identifier in every tenant: `<object id>.<home tenant id>` for Entra accounts, the `sub` claim for others;
    /// equal to ADAL's `homeAccountId`. Nil for an account known only from an older ADAL cache, until it has acquired a
    /// token.
    public let identifier: String?
    /// The host under which the account's tokens are cached: the preferred one of its cloud.
    public let environment: String
    /// The account as each tenant knows it, the home tenant first; nil for the account of an `MSALResult`, and for the previous
    /// account of `getCurrentAccount`.
    public let tenantProfiles: [MSALTenantProfile]?
    /// Whether an external account provider says that the account comes from Apple's SSO extension. False for accounts of the
    /// agent.
    public let isSSOAccount: Bool
    private let claims: Claims

    /// Creates the account from that of the agent; `listsTenants` is false for the account of a result.
    package init(_ account: Account, listsTenants: Bool = true) {
        username = account.username
        identifier = account.homeAccountID?.text
        environment = account.environment
        tenantProfiles = listsTenants ? account.tenantProfiles.map(MSALTenantProfile.init) : nil
        isSSOAccount = false
        claims = .idToken(account.homeIDToken)
    }

    /// Creates an account from that of an external account provider. Its claims make its tenant profile, since apps cannot create one; they
    /// are the account's if that is the home tenant.
    ///
    /// - Parameter kind: the kind of the application's authority.
    init(external account: any MSALAccountProtocol, kind: Authority.Kind = .entra) {
        let home = account.identifier.flatMap(HomeAccountID.init)
        let profile = account.accountClaims.flatMap {
            MSALTenantProfile(claims: $0, of: home, at: account.environment, kind)
        }
        username = account.username
        identifier = home?.text
        environment = account.environment
        tenantProfiles = profile.map { [$0] } ?? account.tenantProfiles
        isSSOAccount = account.isSSOAccount
        claims = .given(profile?.isHomeTenantProfile == true ? account.accountClaims : nil)
    }

    /// Creates `account` with the tenant profiles of `other`, which is the same account from another source. As in MSAL, the other
    /// source's username and claims replace those of `account` if it has the claims of the home tenant.
    init(_ account: MSALAccount, merging other: MSALAccount) {
        let tenants = Set((account.tenantProfiles ?? []).map(\.tenantId))
        let added = (other.tenantProfiles ?? []).filter { !tenants.contains($0.tenantId) }
        let homes = (other.tenantProfiles ?? []).filter(\.isHomeTenantProfile)
        let homeClaims = homes.count == 1 ? homes[0].claims : nil
        username = homeClaims == nil ? account.username : other.username
        identifier = account.identifier ?? other.identifier
        environment = account.environment
        tenantProfiles = (account.tenantProfiles ?? []) + added
        isSSOAccount = account.isSSOAccount || other.isSSOAccount
        claims = homeClaims.map { Claims.given($0) } ?? account.claims
    }

    /// The claims of the ID token that this app was issued in the account's home tenant; nil without one. They do not
    /// include the token's header. Parsed at each access.
    open var accountClaims: [String: Any]? { claims.values }

    /// The identifier and its parts.
    open var homeAccountId: MSALAccountId? {
        identifier.flatMap(HomeAccountID.init).map(MSALAccountId.init)
    }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the identifiers are equal, or the usernames without regard to case if one account has no identifier.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MSALAccount else { return false }
        if let identifier, let theirs = other.identifier { return identifier == theirs }
        return username?.lowercased() == other.username?.lowercased()
    }

    /// The same for all accounts, because an account without an identifier may equal one with an identifier.
    open override var hash: Int { 0 }

    /// The account as a request names it.
    var reference: AccountReference {
        AccountReference(homeAccountID: identifier.flatMap(HomeAccountID.init), username: username)
    }
}

/// The properties of an account. `MSALAccount` conforms to it, and so do the accounts of external account providers.
public protocol MSALAccountProtocol: NSObjectProtocol {
    /// The name for display, which may change and does not identify the account.
    var username: String? { get }
    /// The identifier in every tenant; equal to ADAL's `homeAccountId`.
    var identifier: String? { get }
    /// The host under which the account's tokens are cached.
    var environment: String { get }
    /// The claims of the ID token that this app was issued in the account's home tenant.
    var accountClaims: [String: Any]? { get }
    /// The account as each tenant knows it; nil for the account of an `MSALResult`.
    var tenantProfiles: [MSALTenantProfile]? { get }
    /// The identifier and its parts.
    var homeAccountId: MSALAccountId? { get }
    /// Whether the account comes from Apple's SSO extension.
    var isSSOAccount: Bool { get }
}

/// The identifier of an account in every tenant, and its parts. Immutable.
open class MSALAccountId: NSObject, NSCopying {
    /// `<object id>.<home tenant id>` for Entra accounts, the `sub` claim for others; in lower case.
    public let identifier: String
    /// The object ID in the home tenant; nil if the identifier does not have two parts.
    public let objectId: String?
    /// The home tenant's ID; nil if the identifier does not have two parts.
    public let tenantId: String?

    /// Creates an ID with an empty identifier and no parts, for test doubles.
    public override init() {
        (identifier, objectId, tenantId) = ("", nil, nil)
    }

    init(_ id: HomeAccountID) {
        identifier = id.text
        objectId = id.objectID
        tenantId = id.tenantID
    }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the identifiers are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAccountId)?.identifier == identifier
    }

    /// Equal for equal objects.
    open override var hash: Int { identifier.hashValue }
}

/// An account as one tenant knows it. Immutable.
open class MSALTenantProfile: NSObject, NSCopying {
    /// The account's object ID in this tenant, or else the `sub` claim; in lower case.
    public let identifier: String?
    /// The host under which the account's tokens are cached.
    public let environment: String?
    /// The tenant's ID.
    public let tenantId: String?
    /// Whether this is the account's home tenant.
    public let isHomeTenantProfile: Bool
    private let source: Claims

    /// Creates a profile without values, for test doubles.
    public override init() {
        (identifier, environment, tenantId, isHomeTenantProfile, source) = (nil, nil, nil, false, .given(nil))
    }

    /// Creates the profile of an external account from its claims; nil if they name no tenant.
    init?(claims: [String: Any], of account: HomeAccountID?, at environment: String, _ kind: Authority.Kind) {
        func named(_ claim: String) -> String? { (claims[claim] as? String)?.trimmedNonEmpty }
        guard let tenant = named("tid") else { return nil }
        identifier = (named("oid") ?? named("sub"))?.lowercased()
        self.environment = environment
        tenantId = tenant
        // A policy of B2C, and a customer tenant, are the home of all their accounts.
        isHomeTenantProfile = kind != .entra || identifier != nil && identifier == account?.objectID
        source = .given(claims)
    }

    init(_ profile: TenantProfile) {
        identifier = profile.localAccountID
        environment = profile.environment
        tenantId = profile.realm
        isHomeTenantProfile = profile.isHome
        source = .idToken(profile.idToken)
    }

    /// The claims of the ID token that this app was issued in this tenant; nil without one. They do not include the
    /// token's header. Parsed at each access.
    open var claims: [String: Any]? { source.values }

    /// Returns the object itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The claims of an account or a profile, or the ID token that has them.
private enum Claims {
    case idToken(String?)
    case given([String: Any]?)

    var values: [String: Any]? {
        switch self {
        case .idToken(let token): token.flatMap(IDTokenPayload.claims)
        case .given(let claims): claims
        }
    }
}

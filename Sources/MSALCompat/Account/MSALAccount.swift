public import Foundation
package import TokenModel

/// One identity, as the agent's cache knows it. Immutable.
///
/// Keep `identifier` to find the account again; `username` may change.
open class MSALAccount: NSObject, MSALAccountProtocol, NSCopying {
    /// The name people know it by; may change and is no key.
    public let username: String?
    /// `<object id>.<home tenant id>` for Entra accounts, the `sub` claim for others; the same as ADAL's
    /// `homeAccountId`. Nil for an account known only from an older ADAL cache, until it has got a token.
    public let identifier: String?
    /// The host it was saved under: the cloud's preferred one.
    public let environment: String
    /// The account as each tenant sees it, the home tenant first; nil on the account of an `MSALResult`.
    public let tenantProfiles: [MSALTenantProfile]?
    /// Always false: there is no SSO extension here.
    public let isSSOAccount: Bool
    private let claims: Claims

    private enum Claims {
        case idToken(String?)
        case given([String: Any]?)
    }

    /// An account of the agent's; `listsTenants` is false for the account of a result.
    package init(_ account: Account, listsTenants: Bool = true) {
        username = account.username
        identifier = account.homeAccountID?.text
        environment = account.environment
        tenantProfiles = listsTenants ? account.tenantProfiles.map(MSALTenantProfile.init) : nil
        isSSOAccount = false
        claims = .idToken(account.homeIDToken)
    }

    /// An account that an external provider brought.
    init(external account: any MSALAccountProtocol) {
        username = account.username
        identifier = account.identifier.flatMap(HomeAccountID.init)?.text
        environment = account.environment
        tenantProfiles = account.tenantProfiles
        isSSOAccount = account.isSSOAccount
        claims = .given(account.accountClaims)
    }

    /// `account` with what `other`, the same account from another place, knows besides.
    init(_ account: MSALAccount, merging other: MSALAccount) {
        let tenants = Set((account.tenantProfiles ?? []).map(\.tenantId))
        let added = (other.tenantProfiles ?? []).filter { !tenants.contains($0.tenantId) }
        let isNewlyHome = added.contains(where: \.isHomeTenantProfile)
        username = isNewlyHome ? other.username : account.username
        identifier = account.identifier ?? other.identifier
        environment = account.environment
        tenantProfiles = (account.tenantProfiles ?? []) + added
        isSSOAccount = account.isSSOAccount || other.isSSOAccount
        claims = isNewlyHome ? other.claims : account.claims
    }

    /// The claims of the ID token that this app was issued in the account's home tenant; nil when there is none.
    /// Header members of the token are not among them. Parsed at each call.
    open var accountClaims: [String: Any]? {
        switch claims {
        case .idToken(let token): token.flatMap(JWTPayload.claims)
        case .given(let claims): claims
        }
    }

    /// The identifier and its parts.
    open var homeAccountId: MSALAccountId? {
        identifier.flatMap(HomeAccountID.init).map(MSALAccountId.init)
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the identifiers are the same; where one has none, whether the usernames are, without regard to case.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? MSALAccount else { return false }
        if let identifier, let theirs = other.identifier { return identifier == theirs }
        guard let username, let theirs = other.username else { return false }
        return username.lowercased() == theirs.lowercased()
    }

    /// The same for all: an account without an identifier may equal one with.
    open override var hash: Int { 0 }

    /// How to name this account in a request.
    var reference: AccountReference {
        AccountReference(homeAccountID: identifier.flatMap(HomeAccountID.init), username: username)
    }
}

/// What identifies an account, and what is known of it. `MSALAccount` is one; external account providers bring others.
public protocol MSALAccountProtocol: NSObjectProtocol {
    /// The name people know it by; may change and is no key.
    var username: String? { get }
    /// What identifies it in every tenant; the same as ADAL's `homeAccountId`.
    var identifier: String? { get }
    /// The host it was saved under.
    var environment: String { get }
    /// The claims of the ID token that this app was issued in the account's home tenant.
    var accountClaims: [String: Any]? { get }
    /// The account as each tenant sees it; nil on the account of an `MSALResult`.
    var tenantProfiles: [MSALTenantProfile]? { get }
    /// The identifier and its parts.
    var homeAccountId: MSALAccountId? { get }
    /// Whether an SSO extension of Apple's vouches for it.
    var isSSOAccount: Bool { get }
}

/// What identifies an account in every tenant, and its parts. Immutable.
open class MSALAccountId: NSObject, NSCopying {
    /// `<object id>.<home tenant id>` for Entra accounts, the `sub` claim for others; in lower case.
    public let identifier: String
    /// The object id in the home tenant; nil when the identifier does not have two parts.
    public let objectId: String?
    /// The home tenant's id; nil when the identifier does not have two parts.
    public let tenantId: String?

    /// An empty ID: the identifier is empty, its parts are nil. For test doubles.
    public override init() {
        (identifier, objectId, tenantId) = ("", nil, nil)
    }

    init(_ id: HomeAccountID) {
        identifier = id.text
        objectId = id.objectID
        tenantId = id.tenantID
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the identifiers are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAccountId)?.identifier == identifier
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { identifier.hashValue }
}

/// An account as one tenant sees it. Immutable.
open class MSALTenantProfile: NSObject, NSCopying {
    /// The account's object id in this tenant, in lower case; the `sub` claim where there is none.
    public let identifier: String?
    /// The host it was saved under.
    public let environment: String?
    /// The tenant's id.
    public let tenantId: String?
    /// Whether this is the account's own tenant.
    public let isHomeTenantProfile: Bool
    private let idToken: String?

    /// An empty profile: every property is nil. For test doubles.
    public override init() {
        (identifier, environment, tenantId, isHomeTenantProfile, idToken) = (nil, nil, nil, false, nil)
    }

    init(_ profile: TenantProfile) {
        identifier = profile.localAccountID
        environment = profile.environment
        tenantId = profile.realm
        isHomeTenantProfile = profile.isHome
        idToken = profile.idToken
    }

    /// The claims of the ID token that this app was issued in this tenant; nil when there is none. Header members of
    /// the token are not among them. Parsed at each call.
    open var claims: [String: Any]? { idToken.flatMap(JWTPayload.claims) }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The claims of a JWT as Foundation objects.
enum JWTPayload {
    /// The members of the payload; nil when the token has none. The header's members are not claims and stay out.
    static func claims(of token: String) -> [String: Any]? {
        guard let payload = IDTokenClaims.payload(ofJWT: token) else { return nil }
        return (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any]
    }
}

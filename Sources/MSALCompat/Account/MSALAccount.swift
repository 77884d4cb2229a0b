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

public import Foundation
internal import TokenModel

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

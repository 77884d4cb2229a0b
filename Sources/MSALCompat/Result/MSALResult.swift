public import Foundation
package import TokenModel

/// A token, and what it is good for. Immutable; may be used from any thread.
public final class MSALResult: NSObject, Sendable {
    private let result: TokenResult
    private let issuer: Authority

    /// - Parameter kind: of the authority that was asked, which its URL need not tell.
    /// - Throws: `serverInvalidResponse` when the ID token cannot be read: an app must not act on claims that are not there.
    package init(_ result: TokenResult, kind: Authority.Kind? = nil) throws(TokenError) {
        if let token = result.idToken, JWTPayload.claims(of: token) == nil {
            throw TokenError(.serverInvalidResponse, "the ID token cannot be read")
        }
        self.result = result
        self.issuer = try Authority(result.authority, kind: kind)
    }

    /// The access token; empty when the issuer sent none.
    public var accessToken: String { result.accessToken.reveal() }

    /// When the access token expires.
    public var expiresOn: Date? { Date(timeIntervalSince1970: TimeInterval(result.expiresOn)) }

    /// Whether the token has expired and was returned because the token endpoint is down
    /// (`MSALPublicClientApplicationConfig.extendedLifetimeEnabled`).
    public var extendedLifeTimeToken: Bool { result.isExtendedLifetime }

    /// The raw ID token; nil when there is none.
    public var idToken: String? { result.idToken }

    /// The scopes granted, in the issuer's case and order.
    public var scopes: [String] { result.scopes }

    /// The account in the tenant that issued the token.
    public var tenantProfile: MSALTenantProfile { MSALTenantProfile(profile) }

    /// Whose token it is; without `tenantProfiles`.
    public var account: MSALAccount {
        var account = result.account
        if account.homeIDToken == nil, profile.isHome { account.homeIDToken = result.idToken }
        return MSALAccount(account, listsTenants: false)
    }

    /// The authority that issued the token, with the tenant's own id.
    public var authority: MSALAuthority { MSALAuthority.issuer(issuer) }

    /// The operation that acquired it: the app's own, where it gave one.
    public var correlationId: UUID { result.correlationID.uuid }

    /// The value of an `Authorization` header field, `Bearer <token>`; empty when there is no access token.
    public var authorizationHeader: String {
        result.accessToken.isEmpty ? "" : "\(authenticationScheme) \(accessToken)"
    }

    /// How the token is presented: `Bearer`.
    public var authenticationScheme: String { "Bearer" }

    private var profile: TenantProfile {
        if var profile = result.tenantProfile {
            profile.idToken = profile.idToken ?? result.idToken
            return profile
        }
        let claims = result.idToken.flatMap(IDTokenClaims.init)
        let realm = claims?.tenantID ?? issuer.realm
        return TenantProfile(
            realm: realm, localAccountID: claims?.localAccountID, username: result.account.username,
            environment: result.account.environment, isHome: realm == result.account.homeAccountID?.tenantID,
            idToken: result.idToken)
    }
}

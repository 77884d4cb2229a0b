public import Foundation
package import TokenModel

/// A token, and what it is good for. Immutable; may be used from any thread.
///
/// Open for test doubles, which override what the tests read.
// Unchecked because the compiler checks final classes only; all members are constants of Sendable types.
open class MSALResult: NSObject, @unchecked Sendable {
    private let result: TokenResult
    private let issuer: Authority
    /// Whether it was made without a token.
    private let isEmpty: Bool

    /// An empty result: strings and arrays are empty, optional properties are nil, the authority is the default one. For test
    /// doubles.
    public override init() {
        issuer = .common
        isEmpty = true
        result = TokenResult(
            accessToken: Secret(""), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
            account: Account(
                homeAccountID: nil, username: nil, environment: Authority.common.environment, source: .msal),
            tenantProfile: nil, authority: Authority.common.url, correlationID: CorrelationID(), isFromCache: false)
    }

    /// - Parameter kind: of the authority that was asked, which its URL need not tell.
    /// - Throws: `serverInvalidResponse` when the ID token cannot be read: an app must not act on claims that are not there.
    package init(_ result: TokenResult, kind: Authority.Kind? = nil) throws(TokenError) {
        if let token = result.idToken, JWTPayload.claims(of: token) == nil {
            throw TokenError(.serverInvalidResponse, "the ID token cannot be read")
        }
        self.result = result
        self.isEmpty = false
        self.issuer = try Authority(result.authority, kind: kind)
    }

    /// The access token; empty when the issuer sent none.
    open var accessToken: String { result.accessToken.reveal() }

    /// When the access token expires.
    open var expiresOn: Date? { isEmpty ? nil : Date(timeIntervalSince1970: TimeInterval(result.expiresOn)) }

    /// Whether the token has expired and was returned because the token endpoint is down
    /// (`MSALPublicClientApplicationConfig.extendedLifetimeEnabled`).
    open var extendedLifeTimeToken: Bool { result.isExtendedLifetime }

    /// The raw ID token; nil when there is none.
    open var idToken: String? { result.idToken }

    /// The scopes granted, in the issuer's case and order.
    open var scopes: [String] { result.scopes }

    /// The account in the tenant that issued the token.
    open var tenantProfile: MSALTenantProfile { isEmpty ? MSALTenantProfile() : MSALTenantProfile(profile) }

    /// Whose token it is; without `tenantProfiles`.
    open var account: MSALAccount {
        var account = result.account
        if account.homeIDToken == nil, profile.isHome { account.homeIDToken = result.idToken }
        return MSALAccount(account, listsTenants: false)
    }

    /// The authority that issued the token, with the tenant's own id.
    open var authority: MSALAuthority { MSALAuthority.issuer(issuer) }

    /// The operation that acquired it: the app's own, where it gave one.
    open var correlationId: UUID { result.correlationID.uuid }

    /// The value of an `Authorization` header field, `Bearer <token>`; empty when there is no access token.
    open var authorizationHeader: String {
        result.accessToken.isEmpty ? "" : "\(authenticationScheme) \(accessToken)"
    }

    /// How the token is presented: `Bearer`.
    open var authenticationScheme: String { "Bearer" }

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

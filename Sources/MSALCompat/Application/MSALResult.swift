internal import CompatSupport
public import Foundation
package import TokenModel

/// A token and its description. Immutable; may be used from any thread.
///
/// Open for test doubles, which override properties.
// Unchecked because the compiler checks final classes only; all members are constants of Sendable types.
open class MSALResult: NSObject, @unchecked Sendable {
    private let result: TokenResult
    private let parsedIssuer: Issuer
    /// Whether the result was created without a token.
    private let isEmpty: Bool

    /// Creates an empty result, for test doubles: arrays and strings but `authenticationScheme` are empty, optional
    /// properties are nil, the authority is the default one.
    public override init() {
        parsedIssuer = Issuer(.common)
        isEmpty = true
        result = TokenResult(
            accessToken: Secret(""), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
            account: Account(
                homeAccountID: nil, username: nil, environment: Authority.common.environment, source: .msal),
            tenantProfile: nil, authority: Authority.common.url, correlationID: CorrelationID(), isFromCache: false)
    }

    /// Creates the result of a request.
    ///
    /// - Parameter kind: the kind of the authority that was asked, which cannot always be derived from its URL.
    /// - Throws: `serverInvalidResponse` if the ID token cannot be read, because the app would act on missing claims.
    package init(_ result: TokenResult, kind: Authority.Kind? = nil) throws(TokenError) {
        if let token = result.idToken, !IDTokenPayload.isReadable(token) {
            throw TokenError(.serverInvalidResponse, "the ID token cannot be read")
        }
        self.result = result
        self.isEmpty = false
        self.parsedIssuer = try Self.issuers.value(for: IssuerText(url: result.authority, kind: kind)) {
            () throws(TokenError) in
            Issuer(try Authority(result.authority, kind: kind))
        }
    }

    /// An authority, of which results have a reference.
    private final class Issuer: Sendable {
        let authority: Authority

        init(_ authority: Authority) { self.authority = authority }
    }

    private var issuer: Authority { parsedIssuer.authority }

    /// The text and the kind from which the authority of a result is parsed.
    private struct IssuerText: Equatable {
        let url: String
        let kind: Authority.Kind?
    }

    private static let issuers = RecentValues<IssuerText, Issuer>()

    /// The access token; empty if the identity provider issued none.
    open var accessToken: String { result.accessToken.reveal() }

    /// The time at which the access token expires, which is past if `extendedLifeTimeToken` is true; nil if the identity
    /// provider issued none.
    open var expiresOn: Date? {
        result.accessToken.isEmpty ? nil : Date(timeIntervalSince1970: TimeInterval(result.expiresOn))
    }

    /// Whether the token has expired and was returned because of an outage of the token endpoint
    /// (`MSALPublicClientApplicationConfig.extendedLifetimeEnabled`).
    open var extendedLifeTimeToken: Bool { result.isExtendedLifetime }

    /// The ID token as received; nil without one.
    open var idToken: String? { result.idToken }

    /// The scopes of the access token, as the identity provider wrote and ordered them; empty if it issued none.
    open var scopes: [String] { result.accessToken.isEmpty ? [] : result.scopes }

    /// The account as the tenant knows it that issued the token.
    open var tenantProfile: MSALTenantProfile { isEmpty ? MSALTenantProfile() : MSALTenantProfile(profile) }

    /// The account of the token; without `tenantProfiles`.
    open var account: MSALAccount {
        var account = result.account
        if account.homeIDToken == nil, profile.isHome { account.homeIDToken = result.idToken }
        return MSALAccount(account, listsTenants: false)
    }

    /// The authority that issued the token, with the tenant's ID; for B2C and External ID at a domain of the organisation, that of the
    /// request.
    open var authority: MSALAuthority { MSALAuthority.issuer(issuer) }

    /// The correlation ID of the request: that of the parameters, if it was set.
    open var correlationId: UUID { result.correlationID.uuid }

    /// The value of an `Authorization` header field, `Bearer <token>`; empty without an access token.
    open var authorizationHeader: String {
        result.accessToken.isEmpty ? "" : "\(authenticationScheme) \(accessToken)"
    }

    /// The authentication scheme of the token: `Bearer`.
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

public import Foundation

/// What is asked for, and from whom.
open class MSALTokenParameters: MSALParameters {
    /// The permissions asked for. `openid`, `profile` and `offline_access` are always asked for and may not be named.
    open var scopes: [String]
    /// Whose token. A silent request needs it.
    open var account: MSALAccount?
    /// Who is to issue the token; nil takes the application's. Has to be of the same class as the application's.
    open var authority: MSALAuthority?
    /// Claims to ask for. A silent request with claims passes over the cached token.
    open var claimsRequest: MSALClaimsRequest?
    /// More query parameters for the authorization endpoint, and form parameters for the token endpoint.
    open var extraQueryParameters: [String: String]?
    /// Joins the logs of app, agent and token endpoint; nil makes one. The result carries it.
    open var correlationId: UUID?
    /// How the token is presented; a bearer token unless set.
    open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)?

    /// Asks for `scopes`.
    public init(scopes: [String]) {
        self.scopes = scopes
        self.authenticationScheme = MSALAuthenticationSchemeBearer()
    }
}

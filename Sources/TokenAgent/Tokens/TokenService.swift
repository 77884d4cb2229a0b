internal import TokenEndpoint
internal import TokenModel

/// The requests of the agent to identity providers; see the methods of `TokenEndpointClient`. Tests have a scripted service.
protocol TokenService: Sendable {
    /// Whether authorities on this machine may use `http`. A reload of the configuration can change it.
    var allowsLoopbackHTTP: Bool { get }

    /// Redeems a grant. `delivery` records whether the grant may have reached the token endpoint.
    func redeem(_ request: TokenRequest, _ delivery: DeliveryTracker?) async throws(TokenError) -> IssuedTokens

    /// The endpoints of an authority at which a user is about to sign in.
    func signInEndpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID
    ) async throws(TokenError) -> Endpoints

    /// The URL of the sign-in page for an authorization request, which may be pushed (RFC 9126).
    func authorizationPage(
        for request: AuthorizationRequest, at endpoints: Endpoints
    ) async throws(TokenError) -> String

    /// The clouds that instance discovery names, the authority's among them.
    func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud]

    /// Checks that an AD FS farm belongs to a domain.
    func validateFederation(
        of authority: Authority, domain: String, correlationID: CorrelationID
    ) async throws(TokenError)

    /// Begins a device code sign-in (RFC 8628 section 3.2).
    func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant

    /// The page that ends the session of a browser at an authority; nil if it has none.
    func signOutPage(of authority: Authority, for clientID: ClientID?) async throws(TokenError) -> String?

    /// Checks that an authority answers, and returns its time.
    func probe(_ authority: Authority) async -> Result<ServerClock, TokenError>
}

extension TokenEndpointClient: TokenService {}

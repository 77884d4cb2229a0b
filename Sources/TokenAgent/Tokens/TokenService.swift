internal import TokenEndpoint
internal import TokenModel

/// What the agent asks of identity providers; see the methods of `TokenEndpointClient`.
protocol TokenService: Sendable {
    /// Trades a grant for tokens. `delivery` tells afterwards whether the grant may have reached the token endpoint.
    func redeem(_ request: TokenRequest, _ delivery: DeliveryTracker?) async throws(TokenError) -> IssuedTokens

    /// Where an authority's endpoints are.
    func endpoints(of authority: Authority, version: OAuthVersion) async throws(TokenError) -> Endpoints

    /// The clouds that instance discovery knows, the authority's among them.
    func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud]

    /// Returns if an AD FS is the one of the domain.
    func validateFederation(
        of authority: Authority, domain: String, correlationID: CorrelationID
    ) async throws(TokenError)

    /// Gets a code for the user to type on another device.
    func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant

    /// Whether an authority answers, and what time it has.
    func probe(_ authority: Authority) async -> Result<ServerClock, TokenError>
}

extension TokenEndpointClient: TokenService {}

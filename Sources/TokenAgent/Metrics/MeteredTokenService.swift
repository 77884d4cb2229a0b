internal import TokenEndpoint
internal import TokenModel

/// Counts and times the redemptions of a token service; everything else is passed on.
struct MeteredTokenService: TokenService {
    let service: any TokenService
    let metrics: AgentMetrics

    var allowsLoopbackHTTP: Bool { service.allowsLoopbackHTTP }

    func redeem(_ request: TokenRequest, _ delivery: DeliveryTracker?) async throws(TokenError) -> IssuedTokens {
        let start = ContinuousClock.now
        do throws(TokenError) {
            let tokens = try await service.redeem(request, delivery)
            metrics.redeemed(request.grant.kind, nil, in: .now - start)
            return tokens
        } catch {
            metrics.redeemed(request.grant.kind, error, in: .now - start)
            throw error
        }
    }

    func signInEndpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID
    ) async throws(TokenError) -> Endpoints {
        try await service.signInEndpoints(of: authority, version: version, correlationID: correlationID)
    }

    func authorizationPage(
        for request: AuthorizationRequest, at endpoints: Endpoints
    ) async throws(TokenError) -> String {
        try await service.authorizationPage(for: request, at: endpoints)
    }

    func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud] {
        try await service.discoverClouds(of: authority, correlationID: correlationID)
    }

    func validateFederation(
        of authority: Authority, domain: String, correlationID: CorrelationID
    ) async throws(TokenError) {
        try await service.validateFederation(of: authority, domain: domain, correlationID: correlationID)
    }

    func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant {
        try await service.beginDeviceCode(request)
    }

    func signOutPage(of authority: Authority, for clientID: ClientID?) async throws(TokenError) -> String? {
        try await service.signOutPage(of: authority, for: clientID)
    }

    func probe(_ authority: Authority) async -> Result<ServerClock, TokenError> { await service.probe(authority) }
}

extension Grant {
    fileprivate var kind: GrantKind {
        switch self {
        case .refreshToken: .refreshToken
        case .authorizationCode: .authorizationCode
        case .deviceCode: .deviceCode
        case .assertion: .assertion
        }
    }
}

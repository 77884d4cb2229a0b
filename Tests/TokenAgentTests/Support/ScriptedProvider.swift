internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// An identity provider whose replies the test sends.
final class ScriptedProvider: TokenService {
    /// A request that waits for its reply.
    struct Call<Question: Sendable, Reply: Sendable>: Sendable {
        let question: Question
        fileprivate let continuation: CheckedContinuation<Result<Reply, TokenError>, Never>

        func answer(_ reply: Reply) { continuation.resume(returning: .success(reply)) }

        func fail(_ error: TokenError) { continuation.resume(returning: .failure(error)) }
    }

    typealias Redemption = Call<(request: TokenRequest, delivery: DeliveryTracker?), IssuedTokens>

    let allowsLoopbackHTTP = false
    let redemptions = Mailbox<Redemption>()
    let discoveries = Mailbox<Call<Authority, [CloudDirectory.Cloud]>>()
    let federations = Mailbox<Call<String, Void>>()
    let deviceCodes = Mailbox<Call<DeviceCodeRequest, DeviceCodeGrant>>()
    let signOutPages = Mailbox<Call<Authority, String?>>()

    func redeem(_ request: TokenRequest, _ delivery: DeliveryTracker?) async throws(TokenError) -> IssuedTokens {
        try await Self.ask((request, delivery), redemptions)
    }

    func signInEndpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID
    ) async throws(TokenError) -> Endpoints {
        Endpoints(token: authority.url + "/token", authorization: authority.url + "/authorize")
    }

    func authorizationPage(
        for request: AuthorizationRequest, at endpoints: Endpoints
    ) async throws(TokenError) -> String { request.url(endpoint: endpoints.authorization) }

    func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud] { try await Self.ask(authority, discoveries) }

    func validateFederation(
        of authority: Authority, domain: String, correlationID: CorrelationID
    ) async throws(TokenError) { try await Self.ask(domain, federations) }

    func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant {
        try await Self.ask(request, deviceCodes)
    }

    func signOutPage(of authority: Authority, for clientID: ClientID?) async throws(TokenError) -> String? {
        try await Self.ask(authority, signOutPages)
    }

    func probe(_ authority: Authority) async -> Result<ServerClock, TokenError> {
        .failure(TokenError(.networkUnavailable, "the provider is a script"))
    }

    private static func ask<Question: Sendable, Reply: Sendable>(
        _ question: Question, _ mailbox: Mailbox<Call<Question, Reply>>
    ) async throws(TokenError) -> Reply {
        try await withCheckedContinuation { mailbox.put(Call(question: question, continuation: $0)) }.get()
    }
}

extension ScriptedProvider.Redemption {
    /// The refresh token that was sent.
    var token: String? {
        guard case .refreshToken(let secret) = question.request.grant else { return nil }
        return secret.reveal()
    }
}

internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// A token endpoint client in front of a scripted authority.
struct EndpointFixture: Sendable {
    let endpoint: TokenEndpointClient
    let server: ScriptedServer
    let authority: Authority

    /// An authority without instance discovery or a discovery document, whose token endpoint answers by `script`.
    static func with(
        isSecure: Bool = false, host: String = "127.0.0.1", path: String = "/common", kind: Authority.Kind? = nil,
        network: NetworkSettings? = nil, timing: HTTPTiming = EndpointFixture.patient,
        now: @escaping @Sendable () -> Int64 = { 1_800_000_000 },
        _ script: @escaping ScriptedServer.Script, _ body: (EndpointFixture) async throws -> Void
    ) async throws {
        let network = try network ?? NetworkSettings(environment: [:])
        try await ScriptedServer.with(isSecure: isSecure, script) { server in
            let url = "\(isSecure ? "https" : "http")://\(host):\(server.port)\(path)"
            let endpoint = TokenEndpointClient(
                network: network, allowsLoopbackHTTP: true, timing: timing, now: now)
            try await withCleanup {
                try await body(
                    EndpointFixture(endpoint: endpoint, server: server, authority: Authority(url, kind: kind)))
            } cleanUp: {
                await endpoint.close()
            }
        }
    }

    /// Time limits that no test reaches, and a retry without delay.
    static let patient = HTTPTiming(
        connect: .seconds(600), total: .seconds(600), retryDelay: .zero, browser: .seconds(600))

    /// A script for `/token`; any other path is not found.
    static func token(_ reply: ScriptedReply) -> ScriptedServer.Script {
        { $0.path.hasSuffix("/token") ? reply : .answer(status: 404, body: "") }
    }

    /// The requests to the token endpoint.
    var redeemed: [ReceivedRequest] { server.received.filter { $0.path.hasSuffix("/token") } }

    /// Redeems a refresh token, and expects an error.
    func failure(_ request: TokenRequest? = nil) async throws -> TokenError {
        let sample = try request ?? .sample(authority)
        do throws(TokenError) {
            _ = try await endpoint.redeem(sample)
        } catch {
            return error
        }
        throw UnexpectedSuccess()
    }
}

struct UnexpectedSuccess: Error {}

/// The error that `body` throws.
func failure(_ body: () async throws -> some Any) async -> TokenError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? TokenError
    }
}

extension TokenRequest {
    static func sample(
        _ authority: Authority, grant: Grant = .refreshToken(Secret("rt-1")), version: OAuthVersion = .v2,
        scopes: ScopeSet = ScopeSet(["User.Read"]), claims: String? = nil, redirectURI: String? = nil,
        extra: [String: String] = [:], allowedEndpoints: Set<String>? = nil
    ) throws -> TokenRequest {
        TokenRequest(
            grant: grant, clientID: try #require(ClientID("app-1")), authority: authority, version: version,
            scopes: scopes, claims: claims, redirectURI: redirectURI, extraParameters: extra,
            correlationID: CorrelationID(), allowedEndpoints: allowedEndpoints)
    }
}

/// Responses of a token endpoint.
enum Answers {
    /// `{"uid":"u1","utid":"t1"}`
    static let clientInfo = "eyJ1aWQiOiJ1MSIsInV0aWQiOiJ0MSJ9"
    /// An ID token for `app-1` that expires in the future.
    static let idToken = "e30.eyJhdWQiOiJhcHAtMSIsImV4cCI6MjAwMDAwMDAwMH0."
    static let minimal = #"{"access_token":"at","token_type":"Bearer","client_info":"\#(clientInfo)"}"#
    /// A discovery document, in which an OpenID provider has another issuer than any authority.
    static let discovery =
        #"{"issuer":"x","token_endpoint":"https://t.example/token","authorization_endpoint":"https://t.example/a"}"#
}

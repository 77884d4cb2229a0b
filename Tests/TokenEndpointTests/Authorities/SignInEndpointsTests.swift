internal import CCurl
internal import NIOHTTP1
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// A provider may move its endpoints while the agent runs. That a sign-in page is gone, the browser shows to the user only.
@Suite(.bounded) struct SignInEndpointsTests {
    /// A provider whose endpoints for sign-ins are in one folder; without a folder, its discovery document cannot be read now.
    private static func provider(_ folder: @escaping @Sendable () -> String?) -> ScriptedServer.Script {
        { request in
            guard request.path.hasSuffix("/openid-configuration") else {
                let grant = #"{"device_code":"d","user_code":"u","verification_uri":"https://x"}"#
                let isThere = request.path == "/\(folder() ?? "")/device"
                return isThere ? .json(grant) : .answer(status: 404, body: "")
            }
            guard let name = folder() else { return .answer(status: 503, body: "") }
            let base = "http://\(request.headers.first(name: "Host") ?? "")"
            return .json(
                #"{"token_endpoint":"\#(base)/token","authorization_endpoint":"\#(base)/\#(name)/authorize","#
                    + #""device_authorization_endpoint":"\#(base)/\#(name)/device"}"#)
        }
    }

    @Test func readsTheDocumentAgainForEachSignIn() async throws {
        let folder = Mutex<String?>("old")
        try await EndpointFixture.with(Self.provider { folder.withLock { $0 } }) { fixture in
            func page() async throws -> String {
                let endpoints = try await fixture.endpoint.signInEndpoints(
                    of: fixture.authority, version: .v2, correlationID: CorrelationID())
                return endpoints.authorization
            }
            let base = "http://\(fixture.authority.environment)"
            let first = try await page()
            #expect(first == "\(base)/old/authorize")
            #expect(fixture.server.received.count == 1)
            folder.withLock { $0 = "new" }
            let moved = try await page()
            #expect(moved == "\(base)/new/authorize")
            folder.withLock { $0 = nil }
            let remembered = try await page()
            #expect(remembered == "\(base)/new/authorize", "the page may be there nevertheless")
        }
    }

    /// The page would tell the user, and not the app, that the provider or the policy has been deleted.
    @Test func refusesASignInWhoseDocumentIsGone() async throws {
        let isThere = Mutex(true)
        try await EndpointFixture.with(
            path: "/issuer", kind: .openID,
            { request in
                guard isThere.withLock({ $0 }) else { return .answer(status: 404, body: "") }
                let base = "http://\(request.headers.first(name: "Host") ?? "")"
                return .json(
                    #"{"issuer":"\#(base)/issuer","token_endpoint":"\#(base)/t","authorization_endpoint":"\#(base)/a"}"#
                )
            }
        ) { fixture in
            let correlationID = CorrelationID()
            func error() async -> TokenError? {
                await failure {
                    try await fixture.endpoint.signInEndpoints(
                        of: fixture.authority, version: .v2, correlationID: correlationID)
                }
            }
            #expect(await error() == nil)
            isThere.withLock { $0 = false }
            let gone = await error()
            #expect(gone?.details.httpStatus == 404)
            #expect(gone?.details.correlationID == correlationID)
        }
    }

    @Test func readsTheDocumentAgainForEachDeviceCode() async throws {
        let folder = Mutex<String?>("old")
        try await EndpointFixture.with(Self.provider { folder.withLock { $0 } }) { fixture in
            let request = DeviceCodeRequest(
                clientID: try #require(ClientID("app-1")), authority: fixture.authority, version: .v2,
                scopes: ScopeSet(["User.Read"]), correlationID: CorrelationID())
            _ = try await fixture.endpoint.beginDeviceCode(request)
            folder.withLock { $0 = "new" }
            #expect(try await fixture.endpoint.beginDeviceCode(request).userCode == "u")
        }
    }

    /// A grant is redeemed where the document of its sign-in said.
    @Test func readsTheDocumentOnceForASignInAndItsRedemption() async throws {
        try await EndpointFixture.with(Self.provider { "old" }) { fixture in
            _ = try await fixture.endpoint.signInEndpoints(
                of: fixture.authority, version: .v2, correlationID: CorrelationID())
            _ = try await fixture.failure()
            #expect(fixture.server.received.map(\.method) == ["GET", "POST"])
        }
    }

    /// Without a network, it is not known whether the host is gone.
    @Test(.enabled(if: !ccurl_is_offline())) func readsTheDocumentAgainIfTheHostOfTheTokenEndpointIsGone() async throws
    {
        let host = "https://nowhere.invalid"
        let document = #"{"token_endpoint":"\#(host)/t","authorization_endpoint":"\#(host)/a"}"#
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            for count in 1...2 {
                let error = try await fixture.failure()
                #expect(error.details.networkErrorCode == -1003)
                #expect(fixture.server.received.count == count)
            }
        }
    }

    /// Apps may name any number of them.
    @Test func remembersTheDocumentsOf256Authorities() async throws {
        let document = #"{"token_endpoint":"https://t.example/t","authorization_endpoint":"https://t.example/a"}"#
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            func read(_ tenant: Int) async throws {
                let authority = try Authority("http://\(fixture.authority.environment)/tenant\(tenant)")
                _ = try await fixture.endpoint.endpoints(of: authority, version: .v2)
            }
            for tenant in 0..<256 { try await read(tenant) }
            try await read(0)
            #expect(fixture.server.received.count == 256)
            try await read(256)
            try await read(0)
            #expect(fixture.server.received.count == 258)
        }
    }
}

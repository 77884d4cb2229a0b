internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// Responses that were made to cost time or memory.
@Suite(.bounded) struct HostileResponseTests {
    /// Combining characters, whose comparison takes a time that is quadratic in their number: one comparison of these takes minutes.
    private static let marks = String(repeating: "\u{301}\u{316}", count: 200_000)

    private static let bombs = [
        String(repeating: "[", count: 500_000) + String(repeating: "]", count: 500_000),
        #"{"access_token":"at","x":"# + String(repeating: #"{"a":"#, count: 33) + "1"
            + String(repeating: "}", count: 34),
        "{\"\(marks)\":1}", "{\"access_token\":\"at\",\"token_type\":\"\(marks)\"}", "{\"error\":\"\(marks)\"}",
        "{\"x\":[" + String(repeating: "0,", count: 400_000) + "0]}",
        "{" + (0..<20_000).map { "\"\($0)\":1," }.joined() + "\"access_token\":\"at\"}",
    ]

    @Test(arguments: bombs) func refusesATokenResponse(body: String) async throws {
        try await EndpointFixture.with(EndpointFixture.token(.json(body))) { (fixture) async throws in
            #expect(try await fixture.failure().code == .serverInvalidResponse)
        }
    }

    @Test(arguments: bombs) func refusesADiscoveryDocument(body: String) async throws {
        try await EndpointFixture.with(path: "/main", kind: .openID, { _ in .json(body) }) { fixture in
            let error = await failure { try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    @Test(arguments: bombs) func refusesADeviceCode(body: String) async throws {
        let script: ScriptedServer.Script = {
            $0.path.hasSuffix("/devicecode") ? .json(body) : .answer(status: 404, body: "")
        }
        try await EndpointFixture.with(script) { fixture in
            let request = DeviceCodeRequest(
                clientID: try #require(ClientID("app-1")), authority: fixture.authority, version: .v2,
                scopes: ScopeSet(["User.Read"]), correlationID: CorrelationID())
            let error = await failure { try await fixture.endpoint.beginDeviceCode(request) }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    /// Somebody else could read the password that is typed into a page without TLS.
    @Test(arguments: [
        "http://login.example/device", "javascript:alert(1)", "file:///etc/passwd", "https://login.example/\u{202E}x",
        "login",
    ])
    func showsNoPageForACodeWithoutTLS(page: String) async throws {
        let script: ScriptedServer.Script = {
            $0.path.hasSuffix("/devicecode")
                ? .json("{\"device_code\":\"d\",\"user_code\":\"u\",\"verification_uri\":\"\(page)\"}")
                : .answer(status: 404, body: "")
        }
        try await EndpointFixture.with(script) { fixture in
            let request = DeviceCodeRequest(
                clientID: try #require(ClientID("app-1")), authority: fixture.authority, version: .v2,
                scopes: ScopeSet(["User.Read"]), correlationID: CorrelationID())
            let error = await failure { try await fixture.endpoint.beginDeviceCode(request) }
            #expect(error?.code == .serverInvalidResponse)
            #expect(error?.message.contains("does not use https") == true, "\(error?.message ?? "")")
        }
    }

    /// A payload in an ID token is a text of its own, with the same limits.
    @Test(arguments: bombs) func refusesAnIDTokenWhosePayloadCostsTooMuch(payload: String) async throws {
        let idToken = "e30.\(Base64URL.encode(Secret(String(payload.prefix(90_000)))).reveal())."
        let body = Answers.minimal.dropLast() + ",\"id_token\":\"\(idToken)\"}"
        try await EndpointFixture.with(EndpointFixture.token(.json(String(body)))) { (fixture) async throws in
            #expect(try await fixture.failure().code == .serverInvalidResponse)
        }
    }

    @Test func dropsHeaderFieldsThatTakeLongToCompare() async throws {
        let marks = String(repeating: "\u{301}\u{316}", count: 6000)
        let head = "HTTP/1.1 503 Busy\r\nDate: \(marks)\r\n\(marks): x\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
        try await RawServer.with(head) { server in
            let endpoint = TokenEndpointClient(
                network: try NetworkSettings(environment: [:]), allowsLoopbackHTTP: true,
                timing: EndpointFixture.patient,
                now: { 0 })
            try await withCleanup {
                let authority = try Authority("http://127.0.0.1:\(server.port)/main", kind: .openID)
                let error = await failure { try await endpoint.endpoints(of: authority, version: .v2) }
                #expect(error?.details.httpHeaders["Retry-After"] == "7")
                #expect(error?.details.httpHeaders.count == 2)
            } cleanUp: {
                await endpoint.close()
            }
        }
    }

    /// The clock is read when a request begins, and when its response is decoded.
    @Test func readsAResponseOffTheEventLoopOfTheCaller() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let places = Mutex<[Bool]>([])
        let loop = group.any()
        try await ScriptedServer.with(EndpointFixture.token(.json(Answers.minimal))) { server in
            let endpoint = TokenEndpointClient(
                network: try NetworkSettings(environment: [:]), allowsLoopbackHTTP: true,
                timing: EndpointFixture.patient,
                now: {
                    places.withLock { $0.append(loop.inEventLoop) }
                    return 1_800_000_000
                })
            try await withCleanup {
                let authority = try Authority("http://127.0.0.1:\(server.port)/common")
                let tokens = try await LoopActor(loop: loop).redeem(.sample(authority), with: endpoint)
                #expect(tokens.accessToken == Secret("at"))
                #expect(places.withLock(\.self) == [true, false])
            } cleanUp: {
                await endpoint.close()
            }
        }
        try await group.shutdownGracefully()
    }

    /// A response with more scopes than fit into a message keeps the requested ones.
    @Test func keepsTheRequestedScopeOfTooMany() async throws {
        let scopes = (0..<90_000).map { "s\($0)" }.joined(separator: " ") + " User.Read"
        let body = Answers.minimal.dropLast() + ",\"scope\":\"\(scopes)\"}"
        try await EndpointFixture.with(EndpointFixture.token(.json(String(body)))) { fixture in
            let tokens = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(tokens.scopes?.scopes.count == ValueLimits.listItems)
            #expect(tokens.scopes?.contains("User.Read") == true)
        }
    }
}

/// An actor on an event loop, as the agent's.
private actor LoopActor {
    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    init(loop: any EventLoop) { self.loop = loop }

    func redeem(_ request: TokenRequest, with client: TokenEndpointClient) async throws -> IssuedTokens {
        loop.preconditionInEventLoop()
        return try await client.redeem(request)
    }
}

internal import CCurl
internal import Curl
internal import Foundation
internal import NIOHTTP1
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct HTTPTransportTests {
    /// Whatever comes back, or nothing: the server may have redeemed the grant.
    @Test(
        arguments: [
            ScriptedReply.answer(status: 500, body: ""), .answer(status: 503, body: ""), .hangUp,
            .answer(status: 429, body: ""), .answer(status: 404, body: ""),
            .json(#"{"error":"invalid_grant"}"#, status: 400), .filler(bytes: 2 << 20), .interrupted(body: "{"),
        ])
    func sendsAGrantOnce(reply: ScriptedReply) async throws {
        let grants: [Grant] = [
            .refreshToken(Secret("rt")), .deviceCode(Secret("dc")), .assertion(Secret("<a/>"), isSAML2: true),
            .authorizationCode(code: Secret("c"), verifier: Secret("v"), redirectURI: "http://localhost"),
        ]
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            for (index, grant) in grants.enumerated() {
                _ = try await fixture.failure(.sample(fixture.authority, grant: grant))
                #expect(fixture.redeemed.count == index + 1)
            }
        }
    }

    @Test(
        arguments: [
            (ScriptedReply.answer(status: 500, body: ""), 2), (.answer(status: 503, body: ""), 2), (.hangUp, 2),
            (.answer(status: 429, body: ""), 1), (.answer(status: 404, body: ""), 1), (.filler(bytes: 2 << 20), 1),
        ])
    func retriesAGETOnceIfTheRetryMaySucceed(reply: ScriptedReply, count: Int) async throws {
        try await EndpointFixture.with({ _ in reply }) { fixture in
            _ = await fixture.endpoint.probe(fixture.authority)
            #expect(fixture.server.received.map(\.method) == Array(repeating: "GET", count: count))
        }
    }

    /// An app chooses the hosts that it has the agent ask.
    @Test func reachesACloudBesideHostsThatNeverAnswer() async throws {
        let script: ScriptedServer.Script = { request in
            request.uri.hasPrefix("login.microsoftonline.com") ? .answer(status: 407, body: "") : .silence
        }
        try await ScriptedServer.with(script) { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, script) { fixture in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let endpoint = fixture.endpoint
                    for number in 0..<200 {
                        let authority = try Authority("https://hanging\(number % 4).example/common")
                        group.addTask { _ = await endpoint.probe(authority) }
                    }
                    await proxy.waitForRequests(128)
                    let error = try await fixture.failure(
                        .sample(Authority("https://login.microsoftonline.com/common")))
                    #expect(error.details.networkErrorCode == -1004)
                    group.cancelAll()
                }
            }
        }
    }

    @Test func succeedsIfTheRetrySucceeds() async throws {
        let isFirst = Atomic(true)
        let script: ScriptedServer.Script = { _ in
            isFirst.exchange(false, ordering: .relaxed) ? .answer(status: 503, body: "") : .json(Answers.discovery)
        }
        try await EndpointFixture.with(script) { fixture in
            _ = try await fixture.endpoint.probe(fixture.authority).get()
            #expect(fixture.server.received.count == 2)
        }
    }

    /// Nothing was sent before the second attempt: the first had no connection.
    @Test func retriesAGrantOnceIfThereWasNoConnection() async throws {
        let refusal = "HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        try await RawServer.with(refusal) { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let delivery = DeliveryTracker()
                // The endpoints of this host are known without a request.
                let error = await failure { try await fixture.endpoint.redeem(.sample(.common), delivery) }
                #expect(error?.details.networkErrorCode == -1004)
                #expect(!delivery.mayHaveArrived)
                #expect(proxy.connections == 2)
            }
        }
    }

    @Test func sendsTheHeadersThatEntraLogs() async throws {
        try await EndpointFixture.with(EndpointFixture.token(.json(Answers.minimal))) { fixture in
            let request = try TokenRequest.sample(fixture.authority)
            _ = try await fixture.endpoint.redeem(request)
            let received = try #require(fixture.redeemed.first)
            #expect(received.method == "POST")
            #expect(received.headers["client-request-id"] == [request.correlationID.description])
            #expect(received.headers["return-client-request-id"] == ["true"])
            #expect(received.headers["x-client-SKU"] == ["sso-agent"])
            #expect(received.headers["x-client-Ver"] == [ProductVersion.text])
            #expect(!received.headers["x-client-OS"].isEmpty)
            #expect(received.headers["Accept"] == ["application/json"])
            #expect(received.headers["Accept-Encoding"] == ["identity"])
            #expect(received.headers["Content-Type"] == ["application/x-www-form-urlencoded"])
            #expect(received.form?["refresh_token"] == "rt-1")
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308]) func followsNoRedirect(status: Int) async throws {
        let reply = ScriptedReply.answer(status: status, headers: [("Location", "/elsewhere")], body: "")
        try await EndpointFixture.with(EndpointFixture.token(reply)) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .unhandledHTTPResponse)
            #expect(!fixture.server.received.contains { $0.path == "/elsewhere" })
        }
    }

    @Test func refusesAResponseLongerThanAMebibyte() async throws {
        try await EndpointFixture.with(EndpointFixture.token(.filler(bytes: (1 << 20) + 1))) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .serverInvalidResponse)
        }
    }

    @Test func reportsALostConnection() async throws {
        try await EndpointFixture.with(EndpointFixture.token(.hangUp)) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .networkUnavailable)
            #expect(error.details.networkErrorCode == -1005)
        }
    }

    @Test(arguments: [ScriptedReply.silence, .drip]) func failsAfterTheTimeLimit(reply: ScriptedReply) async throws {
        let impatient = HTTPTiming(total: .milliseconds(50))
        try await EndpointFixture.with(timing: impatient, { _ in reply }) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .networkUnavailable)
            #expect(error.details.networkErrorCode == -1001)
        }
    }

    @Test(arguments: [ScriptedReply.silence, .drip]) func stopsWhenItsTaskIsCancelled(reply: ScriptedReply) async throws
    {
        try await EndpointFixture.with({ _ in reply }) { fixture in
            let request = try TokenRequest.sample(fixture.authority)
            async let error = fixture.failure(request)
            await fixture.server.waitForRequests(1)
            let task = Task { try await fixture.failure(request) }
            await fixture.server.waitForRequests(2)
            task.cancel()
            let cancelled = try await task.value
            #expect(cancelled.code == .cancelled)
            await fixture.endpoint.close()
            let closed = try await error
            #expect(closed.code == .cancelled)
        }
    }

    @Test func reportsAPortWithoutAListener() async throws {
        let reserved = try ReservedPort()
        try await EndpointFixture.with({ _ in .silence }) { fixture in
            let error = try await fixture.failure(.sample(Authority("http://127.0.0.1:\(reserved.port)/common")))
            #expect(error.code == .networkUnavailable)
            #expect(error.details.networkErrorCode == -1004)
        }
    }

    /// MSAL's apps tell a user who is offline from one whose provider cannot be reached.
    @Test(
        arguments: [
            (ENETUNREACH, -1009), (EHOSTUNREACH, -1009), (ENETDOWN, -1009), (ETIMEDOUT, -1001), (ECONNRESET, -1005),
            (ECONNREFUSED, -1004), (0, -1004),
        ] as [(Int32, Int32)])
    func tellsWhyThereIsNoConnection(errno: Int32, code: Int32) {
        let request = HTTPRequest(url: "https://id.example/token", correlationID: nil)
        let error = TokenError(.cannotConnect(errno: errno), reaching: request, through: nil)
        #expect(error.code == .networkUnavailable)
        #expect(error.details.networkErrorCode == code)
    }

    @Test func reportsAHostThatDoesNotExist() async throws {
        try await EndpointFixture.with({ _ in .silence }) { fixture in
            let error = try await fixture.failure(.sample(Authority("https://nowhere.invalid/common")))
            #expect(error.code == .networkUnavailable)
            #expect(error.details.networkErrorCode == (ccurl_is_offline() ? -1009 : -1003))
            #expect(error.message.contains("nowhere.invalid"))
        }
    }

    /// Without a network, no name server responds, so that no host has an address. MSAL's apps look for the code of that.
    @Test(
        arguments: [
            (CurlFailure.hostNotFound(isOffline: true), -1009, "no address was found for id.example, and this machine"),
            (.hostNotFound(isOffline: false), -1003, "no address was found for id.example"),
            (
                .proxyNotFound(isOffline: true), -1009,
                "no address was found for the proxy proxy.example, and this machine"
            ),
            (.proxyNotFound(isOffline: false), -1003, "no address was found for the proxy proxy.example; check"),
        ] as [(CurlFailure, Int32, String)])
    func tellsAMachineThatIsOfflineFromAHostThatDoesNotExist(failure: CurlFailure, code: Int32, text: String) throws {
        let request = HTTPRequest(url: "https://id.example/token", correlationID: nil)
        let proxy = try ProxyServer("http://proxy.example", setting: "HTTPS_PROXY")
        let error = TokenError(failure, reaching: request, through: proxy)
        #expect(error.details.networkErrorCode == code)
        #expect(error.message.hasPrefix(text), "\(error.message)")
    }

    #if os(Linux)
        @Test(.enabled(if: HTTPTransportTests.hasDefaultRoute)) func isNotOfflineWithARoute() {
            #expect(!ccurl_is_offline())
        }

        /// Whether the kernel's table has a route for IPv4 that is not limited to a network.
        private static var hasDefaultRoute: Bool {
            let table = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
            return table.split(separator: "\n").contains { line in
                let fields = line.split(separator: "\t").map(String.init)
                return fields.count > 7 && fields[1] == "00000000" && fields[7] == "00000000"
            }
        }
    #endif

    @Test func trustsTheConfiguredCertificateAuthority() async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        let network = try NetworkSettings(environment: ["SSL_CERT_FILE": file])
        try await EndpointFixture.with(
            isSecure: true, host: "localhost", network: network, EndpointFixture.token(.json(Answers.minimal))
        ) { fixture in
            let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
            #expect(response.accessToken == Secret("at"))
        }
    }

    @Test func saysHowToTrustACertificateAuthorityThatIsUnknown() async throws {
        try await EndpointFixture.with(
            isSecure: true, host: "localhost", EndpointFixture.token(.json(Answers.minimal))
        ) { fixture in
            let error = try await fixture.failure()
            #expect(error.code == .networkUnavailable)
            #expect(error.details.networkErrorCode == -1200)
            #expect(error.message.contains("network.ca_file"))
            #expect(error.message.contains("certificate is not trusted"))
            #expect(fixture.server.received.isEmpty)
        }
    }

    /// The server has no TLS. There is no certificate that could be trusted.
    @Test func advisesNoOtherCertificateAuthorityIfTheHandshakeFails() async throws {
        try await RawServer.with("HTTP/1.1 400 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") { server in
            let endpoint = try TokenEndpointClient(
                network: NetworkSettings(environment: [:]), allowsLoopbackHTTP: false, timing: EndpointFixture.patient,
                now: { 0 })
            try await withCleanup {
                let authority = try Authority("https://127.0.0.1:\(server.port)/common")
                let error = await failure { try await endpoint.probe(authority).get() }
                #expect(error?.details.networkErrorCode == -1200)
                #expect(error?.message.contains("the TLS handshake failed; a captive portal") == true)
                #expect(error?.message.contains("network.ca_file") == false)
                #expect(server.connections == 1)
            } cleanUp: {
                await endpoint.close()
            }
        }
    }

    /// libcurl with OpenSSL does not tell the two apart there.
    @Test(arguments: [("https", true), ("http", false), ("socks5h", false)])
    func advisesAnotherCertificateAuthorityBehindAProxyWithTLS(scheme: String, isAdvised: Bool) throws {
        let request = HTTPRequest(url: "https://login.example/token", correlationID: nil)
        let proxy = try ProxyServer("\(scheme)://proxy", setting: "HTTPS_PROXY")
        let error = TokenError(.tls(.handshake), reaching: request, through: proxy)
        #expect(error.message.contains("network.ca_file") == isAdvised)
    }

    @Test func advisesNoOtherCertificateAuthorityForACertificateOfAnotherHost() {
        let request = HTTPRequest(url: "https://login.example/token", correlationID: nil)
        let error = TokenError(.tls(.otherHost), reaching: request, through: nil)
        #expect(error.details.networkErrorCode == -1202)
        #expect(error.message.hasSuffix("its certificate is for another host"))
    }

    /// The restricted agent cannot read a file in the home folder that replaces another.
    @Test func saysToRestartTheAgentIfTheFileOfCertificateAuthoritiesWasReplaced() {
        let request = HTTPRequest(url: "https://login.example/token", correlationID: nil)
        let error = TokenError(.caFileUnusable, reaching: request, through: nil)
        #expect(error.message.contains("restart it if the file was replaced"))
    }

    /// The certificate is trusted, so that another certificate authority would not help.
    @Test(arguments: [TestCertificate.expired, TestCertificate.notYetValid])
    func saysThatACertificateIsNotValidAtThisTime(certificate: String) async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder, certificate).certificateFile
        let network = try NetworkSettings(environment: ["SSL_CERT_FILE": file])
        try await ScriptedServer.with(isSecure: true, certificate: certificate, { _ in .silence }) { server in
            let endpoint = TokenEndpointClient(
                network: network, allowsLoopbackHTTP: false, timing: EndpointFixture.patient, now: { 0 })
            try await withCleanup {
                let authority = try Authority("https://localhost:\(server.port)/common")
                let error = await failure { try await endpoint.probe(authority).get() }
                #expect(error?.code == .networkUnavailable)
                #expect(error?.details.networkErrorCode == -1201)
                #expect(error?.message.contains("set the clock") == true)
                #expect(error?.message.contains("network.ca_file") == false)
                #expect(server.received.isEmpty)
            } cleanUp: {
                await endpoint.close()
            }
        }
    }

    @Test func saysWhichPackageToInstallWithoutLibcurl() throws {
        let request = HTTPRequest(url: "https://login.example/token?x=secret", correlationID: nil)
        let missing = try #require(ccurl_check("libnowhere.so.4"))
        let error = TokenError(.unavailable(String(cString: missing)), reaching: request, through: nil)
        #expect(error.code == .networkUnavailable)
        #expect(error.message.contains("install libcurl4"))
        #expect(!error.message.contains("secret"))
        #if os(Linux)
            let other = try #require(ccurl_check("libm.so.6"))
            #expect(String(cString: other).contains("7.68"))
            #expect(ccurl_check("libcurl.so.4") == nil)
        #endif
    }

    @Test func refusesPlainHTTPUnlessItWasAllowed() async throws {
        let endpoint = try TokenEndpointClient(
            network: NetworkSettings(environment: [:]), allowsLoopbackHTTP: false, now: { 0 })
        let authority = try Authority("http://localhost:1/common")
        let failures = [
            await failure { try await endpoint.redeem(.sample(authority)) },
            await failure { try await endpoint.discoverClouds(of: authority, correlationID: CorrelationID()) },
            await failure { try await endpoint.endpoints(of: authority, version: .v2) },
            await failure { try await endpoint.probe(authority).get() },
        ]
        for error in failures {
            #expect(error?.code == .invalidDeveloperParameter)
            #expect(error?.details.nextCommand == "ssoctl reload")
        }
        await endpoint.close()
    }

    @Test func sendsNothingToATokenEndpointOutsideTheAllowedCloud() async throws {
        try await EndpointFixture.with(EndpointFixture.token(.json(Answers.minimal))) { fixture in
            let error = try await fixture.failure(
                .sample(fixture.authority, allowedEndpoints: ["login.microsoftonline.com"]))
            #expect(error.code == .interactionRequired)
            #expect(fixture.redeemed.isEmpty)
            _ = try await fixture.endpoint.redeem(
                .sample(fixture.authority, allowedEndpoints: [fixture.authority.environment]))
            #expect(fixture.redeemed.count == 1)
        }
    }

    @Test func failsAfterItWasClosed() async throws {
        try await EndpointFixture.with(EndpointFixture.token(.json(Answers.minimal))) { fixture in
            await fixture.endpoint.close()
            let error = try await fixture.failure()
            #expect(error.code == .cancelled)
        }
    }
}

internal import CCurl
internal import Foundation
internal import NIOHTTP1
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

@Suite(.bounded) struct ProxyTests {
    @Test func requestsATunnelOfTheProxy() async throws {
        let script: ScriptedServer.Script = { _ in .answer(status: 407, body: "") }
        try await ScriptedServer.with(script) { proxy in
            let network = try NetworkSettings(
                environment: ["HTTPS_PROXY": "http://me:s%40crt@127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, script) { fixture in
                let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(error.code == .networkUnavailable)
                #expect(error.details.networkErrorCode == -1004)
                #expect(!error.message.contains("s@crt"))
                let tunnel = try #require(proxy.received.first)
                #expect(tunnel.method == "CONNECT")
                #expect(tunnel.uri == "login.example:443")
                #expect(tunnel.headers["proxy-authorization"] == ["Basic bWU6c0BjcnQ="])
                #expect(fixture.server.received.isEmpty)
            }
        }
    }

    @Test(arguments: ["socks5h", "socks5"])
    func reachesTheAuthorityThroughASOCKSProxy(scheme: String) async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        try await SOCKSProxy.with { proxy in
            let network = try NetworkSettings(
                environment: ["HTTPS_PROXY": "\(scheme)://127.0.0.1:\(proxy.port)", "SSL_CERT_FILE": file])
            // With SOCKS 5, this machine resolves the name.
            let host = scheme == "socks5h" ? "login.microsoftonline.com" : "nowhere.invalid"
            try await EndpointFixture.with(
                isSecure: true, host: host, network: network, EndpointFixture.token(.json(Answers.minimal))
            ) { fixture in
                guard scheme == "socks5h" else {
                    let error = try await fixture.failure()
                    #expect(error.details.networkErrorCode == (ccurl_is_offline() ? -1009 : -1003))
                    #expect(proxy.targets.isEmpty)
                    return
                }
                let response = try await fixture.endpoint.redeem(.sample(fixture.authority))
                #expect(response.accessToken == Secret("at"))
                #expect(Set(proxy.targets) == ["\(host):\(fixture.server.port)"])
            }
        }
    }

    @Test func verifiesTheAuthoritysCertificateBehindAProxy() async throws {
        try await SOCKSProxy.with { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "socks5h://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(
                isSecure: true, host: "login.microsoftonline.com", network: network,
                EndpointFixture.token(.json(Answers.minimal))
            ) { fixture in
                let error = try await fixture.failure()
                #expect(error.details.networkErrorCode == -1200)
                #expect(fixture.server.received.isEmpty)
            }
        }
    }

    /// The certificate is trusted, and belongs to other hosts. The proxy leads every name to the server.
    @Test func sendsNothingToAHostThatTheCertificateDoesNotName() async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        try await SOCKSProxy.with { proxy in
            let network = try NetworkSettings(
                environment: ["HTTPS_PROXY": "socks5h://127.0.0.1:\(proxy.port)", "SSL_CERT_FILE": file])
            try await EndpointFixture.with(
                isSecure: true, host: "login.other.example", network: network,
                EndpointFixture.token(.json(Answers.minimal))
            ) { fixture in
                let error = try await fixture.failure()
                #expect(error.details.networkErrorCode == -1202)
                #expect(error.message.contains("its certificate is for another host"))
                #expect(fixture.server.connections > 0 && fixture.server.received.isEmpty)
            }
        }
    }

    @Test func reportsTheRefusalOfASOCKSProxy() async throws {
        try await SOCKSProxy.with(refuses: true) { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "socks5h://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let delivery = DeliveryTracker()
                let error = await failure {
                    try await fixture.endpoint.redeem(.sample(Authority("https://login.example/common")), delivery)
                }
                #expect(error?.details.networkErrorCode == -1004)
                #expect(error?.message.contains("proxy") == true)
                #expect(!delivery.mayHaveArrived)
            }
        }
    }

    @Test func requestsATunnelOfAProxyOverTLS() async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        try await ScriptedServer.with(isSecure: true, { _ in .answer(status: 403, body: "") }) { proxy in
            for (environment, code, requests) in [
                (["SSL_CERT_FILE": file], -1004, 2), ([:], -1200, 2),
            ] as [([String: String], Int32, Int)] {
                let network = try NetworkSettings(
                    environment: environment, proxy: "https://me:pw@localhost:\(proxy.port)")
                let earlier = proxy.connections
                try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                    let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                    #expect(error.details.networkErrorCode == code)
                    let subject = "no trusted connection to the proxy localhost:\(proxy.port): its certificate"
                    #expect(error.message.hasPrefix(subject) == (code == -1200), "\(error.message)")
                }
                // Another attempt with more certificates for the server would not make the proxy's trusted.
                if environment.isEmpty { #expect(proxy.connections == earlier + 1) }
                #expect(proxy.received.map(\.method) == Array(repeating: "CONNECT", count: requests))
            }
        }
    }

    /// libcurl keeps what it has read of the file for a while.
    @Test func readsTheFileOfCertificateAuthoritiesAgainForTheCertificateOfAProxy() async throws {
        let (folder, otherFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let file = try TestCertificate(in: otherFolder, TestCertificate.expired).certificateFile
        try await ScriptedServer.with(isSecure: true, { _ in .answer(status: 403, body: "") }) { proxy in
            let network = try NetworkSettings(
                environment: ["SSL_CERT_FILE": file], proxy: "https://me:pw@localhost:\(proxy.port)")
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let first = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(first.message.hasPrefix("no trusted connection to the proxy"), "\(first.message)")
                #expect(proxy.received.isEmpty)
                #expect(try rename(TestCertificate(in: folder).certificateFile, file) == 0)
                let second = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(second.details.networkErrorCode == -1004)
                #expect(proxy.received.first?.method == "CONNECT")
            }
        }
    }

    /// The certificate is trusted, and belongs to other hosts. libcurl finds every name in `localhost` on this machine since 7.77.
    @Test func sendsNothingToAProxyThatItsCertificateDoesNotName() async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        try await ScriptedServer.with(isSecure: true, { _ in .answer(status: 403, body: "") }) { proxy in
            let network = try NetworkSettings(
                environment: ["SSL_CERT_FILE": file], proxy: "https://me:pw@proxy.localhost:\(proxy.port)")
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                if proxy.connections > 0 {
                    #expect(error.details.networkErrorCode == -1202)
                    #expect(error.message.contains("connection to the proxy proxy.localhost:"), "\(error.message)")
                }
                #expect(proxy.received.isEmpty)
            }
        }
    }

    /// A mistake in the URL of the proxy: its scheme is that of the connection to the proxy, not of the requests.
    @Test func saysThatAProxyHasNoTLS() async throws {
        try await RawServer.with("HTTP/1.1 400 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "https://127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(error.details.networkErrorCode == -1200)
                let subject = "no trusted connection to the proxy 127.0.0.1:\(proxy.port): the TLS handshake failed"
                #expect(error.message.hasPrefix(subject), "\(error.message)")
                #expect(error.message.contains("write http://"))
            }
        }
    }

    /// The proxy does not say why, and the server is not at fault.
    @Test func namesTheProxyThatDoesNotRespond() async throws {
        try await ScriptedServer.with({ _ in .silence }) { proxy in
            let network = try NetworkSettings(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"])
            let impatient = HTTPTiming(connect: .milliseconds(50), retryDelay: .zero)
            try await EndpointFixture.with(network: network, timing: impatient, { _ in .silence }) { fixture in
                let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(error.details.networkErrorCode == -1001)
                #expect(error.message.hasSuffix(" did not respond in time through the proxy 127.0.0.1:\(proxy.port)"))
            }
        }
    }

    @Test(arguments: [("", "kinit"), ("me:wrong@", "sent with Basic authentication only")])
    func namesTheRemedyIfAProxyRequiresAuthentication(credentials: String, remedy: String) async throws {
        let refusal =
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        try await RawServer.with(refusal) { proxy in
            let network = try NetworkSettings(
                environment: ["HTTPS_PROXY": "http://\(credentials)127.0.0.1:\(proxy.port)"])
            try await EndpointFixture.with(network: network, { _ in .silence }) { fixture in
                let error = try await fixture.failure(.sample(Authority("https://login.example/common")))
                #expect(error.details.networkErrorCode == -1004)
                #expect(error.message.contains(remedy))
                #expect(!error.message.contains("wrong"))
            }
        }
    }
}

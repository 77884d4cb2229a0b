internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// Whether a grant may have reached the token endpoint, if there was no response.
@Suite(.bounded) struct DeliveryTrackerTests {
    @Test func recognizesARequestThatWasNeverSent() async throws {
        let reserved = try ReservedPort()
        try await EndpointFixture.with(isSecure: true, host: "localhost", { _ in .silence }) { (fixture) async throws in
            let port = "http://127.0.0.1:\(reserved.port)/"
            // A port without a listener, a host that does not exist, and a certificate that is not trusted.
            for url in [port, "https://nowhere.invalid/", fixture.authority.url] {
                #expect(try await !mayHaveArrived(url, fixture), "\(url)")
            }
        }
    }

    @Test(arguments: [ScriptedReply.hangUp, .answer(status: 503, body: "")])
    func recognizesARequestThatMayHaveArrived(reply: ScriptedReply) async throws {
        try await EndpointFixture.with({ _ in reply }) { (fixture) async throws in
            #expect(try await mayHaveArrived(fixture.authority.url, fixture))
        }
    }

    private func mayHaveArrived(_ url: String, _ fixture: EndpointFixture) async throws -> Bool {
        let delivery = DeliveryTracker()
        let request = HTTPRequest(url: url, correlationID: nil, delivery: delivery)
        _ = try? await fixture.endpoint.transport.send(request) { $0.status }
        return delivery.mayHaveArrived
    }
}

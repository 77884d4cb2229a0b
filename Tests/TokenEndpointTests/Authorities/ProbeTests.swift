internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// The check of `ssoctl doctor` that a provider can be reached.
@Suite(.bounded) struct ProbeTests {
    @Test func returnsTheTimeOfTheServer() async throws {
        let date = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]
        try await EndpointFixture.with({ _ in .json(Answers.discovery, headers: date) }) { fixture in
            #expect(await fixture.endpoint.probe(fixture.authority) == .success(.init(secondsSince1970: 784_111_777)))
        }
        try await EndpointFixture.with({ _ in .json(Answers.discovery) }) { fixture in
            #expect(await fixture.endpoint.probe(fixture.authority) == .success(.init(secondsSince1970: nil)))
        }
        try await EndpointFixture.with({ _ in .answer(status: 403, body: "") }) { fixture in
            #expect(
                await failure { try await fixture.endpoint.probe(fixture.authority).get() }?.details.httpStatus == 403)
        }
    }

    /// A captive portal responds with a page of its own.
    @Test(arguments: [("<html>", nil), ("{}", nil), (Answers.discovery, .openID)] as [(String, Authority.Kind?)])
    func findsNoProviderInAnotherResponse(body: String, kind: Authority.Kind?) async throws {
        try await EndpointFixture.with(kind: kind, { _ in .json(body) }) { fixture in
            let error = await failure { try await fixture.endpoint.probe(fixture.authority).get() }
            #expect(error?.code == .serverInvalidResponse)
        }
    }

    /// AD FS 2012 R2 has no document, and is used all the same.
    @Test(arguments: [("/adfs", nil), ("/common", 404), ("/tfp/t/p", 404)] as [(String, Int32?)])
    func findsAnADFSWithoutADocument(path: String, status: Int32?) async throws {
        try await EndpointFixture.with(path: path, { _ in .answer(status: 404, body: "") }) { fixture in
            let error = await failure { try await fixture.endpoint.probe(fixture.authority).get() }
            #expect(error?.details.httpStatus == status)
            #expect((error == nil) == (status == nil))
        }
    }
}

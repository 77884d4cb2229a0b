internal import ADALCompat
internal import AgentTestSupport
internal import Dispatch
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

@Suite(.bounded) struct ADALParametersTests {
    private static let authority = "https://login.windows.net/common"

    @Test(arguments: [
        (
            #"Bearer authorization_uri="https://login.windows.net/common", resource_id="https://r""#,
            String?("https://r")
        ),
        (#"Bearer   authorization_uri = "https://login.windows.net/common""#, nil),
        (#"bearer resource_id="https://r",authorization_uri="https://login.windows.net/common""#, "https://r"),
        (#"Basic realm="a, b", Bearer authorization_uri="https://login.windows.net/common""#, nil),
        (#"Bearer authorization_uri="https://login.windows.net/common", other, resource_id="no""#, nil),
        (#"Bearer realm="",authorization_uri="https://login.windows.net/common",resource_id="https://r""#, "https://r"),
        (#"Bearer authorization_uri="https://login.windows.net/common", resource_id="""#, nil),
        (#"Bearer authorization_uri="https://login.windows.net/common" resource_id="https://r""#, "https://r"),
        (
            #"Bearer authorization_uri="https://login.windows.net/common" and = , "a=b" resource_id="https://r""#, nil
        ),
        (
            #"Bearer authorization_uri="https://login.windows.net/common" and = "" a resource_id="https://r""#,
            "https://r"
        ),
        (#"Badger Bearer ="https://a/", Bearer authorization_uri="https://login.windows.net/common""#, nil),
        (
            #"Bearer error_description="Handle, these, commas",authorization_uri="https://login.windows.net/common""#,
            nil
        ),
    ])
    func readsTheChallenge(header: String, resource: String?) throws {
        var error: ADAuthenticationError?
        let parameters = try #require(
            ADAuthenticationParameters(fromResponseAuthenticateHeader: header, error: &error), "\(header)")
        #expect(parameters.authority == Self.authority)
        #expect(parameters.resource == resource)
        #expect(parameters.extractedParameters?["authorization_uri"] as? String == Self.authority)
        #expect(error == nil)
    }

    @Test(arguments: [
        "", "Bearer", "BearerBlahblah", "Bearer,, ", "Bearer test string", "Bearer something=bar",
        #"Bearer something="bar"#, #"Bearer something="bar""#, #"Bearerauthorization_uri="https://a/b""#,
        #"Bearer authorization_uri="https://a/b","#, #"Bearer authorization_uri="https://a/b", "#,
        #"Basic authorization_uri="https://a/b""#, #"Bearer authorization_uri=".\..\windows\host""#,
        #"Bearer authorization_uri="https://a/b", Bearer authorization_uri="https://c/d""#,
        #"Bearer authorization_uri="",resource_id="https://r""#, "Bearer = , = , ", "Bearer =,=,=",
        #"Basic realm="https://a/", Bearer, TFS-Federated"#, #"Bearer authorization_uri="login.windows.net/common""#,
        #"Bearer authorization_uri="https://a/b", a\#(String(repeating: "\u{300}\u{315}", count: 100))="c""#,
    ])
    func refusesAChallengeWithoutAnAuthority(header: String) {
        var error: ADAuthenticationError?
        #expect(ADAuthenticationParameters(fromResponseAuthenticateHeader: header, error: &error) == nil)
        #expect(error?.domain == ADAuthenticationErrorDomain)
        #expect(error?.code == ADErrorCode.ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT.rawValue)
    }

    /// The header field of a hostile server: in quadratic time, it would outlast the limit of the suite.
    @Test(arguments: ["a", " ", "=", "a ", "a=", "a=b ", "a=\"\" a"])
    func readsALongHeaderFieldInLinearTime(text: String) {
        let long = String(repeating: text, count: 300_000 / text.count)
        for start in ["Bearer ", #"Bearer authorization_uri="https://login.windows.net/common" "#] {
            let parameters = ADAuthenticationParameters(fromResponseAuthenticateHeader: start + long, error: nil)
            #expect((parameters != nil) == start.contains("common"))
        }
    }

    @Test func readsAResponsesHeaderFieldWhateverItsCase() throws {
        let url = try #require(URL(string: "https://api.contoso.com/"))
        let field = ["www-AUTHENTICATE": #"Bearer authorization_uri="https://login.windows.net/common""#]
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: field))
        #expect(ADAuthenticationParameters(from: response, error: nil)?.authority == Self.authority)
    }

    @Test func missesTheHeaderField() throws {
        let url = try #require(URL(string: "https://api.contoso.com/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: [:]))
        var error: ADAuthenticationError?
        #expect(ADAuthenticationParameters(from: response, error: &error) == nil)
        #expect(error?.code == ADErrorCode.ERROR_SERVER_MISSING_AUTHENTICATE_HEADER.rawValue)
    }

    @Test func reportsAResourceThatDoesNotAnswer() async throws {
        let url = try #require(URL(string: "no-such-scheme://api.contoso.com/"))
        let (parameters, error) = await ADAuthenticationParameters.parameters(fromResourceUrl: url)
        #expect(parameters == nil)
        #expect(error?.domain == NSURLErrorDomain)
    }

    /// A resource that serves anybody has no authority to name.
    @Test func refusesAResponseThatDemandsNoToken() async throws {
        try await AgentFixture.with { f in
            let resource = try url("\(f.emulator.url)/common/v2.0/.well-known/openid-configuration")
            let (parameters, error) = await ADAuthenticationParameters.parameters(fromResourceUrl: resource)
            #expect(parameters == nil)
            #expect(error?.domain == ADAuthenticationErrorDomain)
            #expect(error?.code == ADErrorCode.ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED.rawValue)
        }
    }

    /// The resource has received the request, and does not answer.
    @Test func endsTheWaitOfATaskThatIsCancelled() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    $0.hold = true
                })
            let resource = try url("\(f.emulator.url)/common/v2.0/.well-known/openid-configuration")
            let wait = Task {
                let error = await ADAuthenticationParameters.parameters(fromResourceUrl: resource).1
                return (error?.domain, error?.code)
            }
            await f.emulator.control.waitForHeld(atLeast: 1)
            wait.cancel()
            let (domain, code) = await wait.value
            #expect(domain == NSURLErrorDomain)
            #expect(code == NSURLErrorCancelled)
            f.emulator.control.release()
        }
    }

    /// As in the original, each of whose requests has a session of its own.
    @Test func endsARequestForWhichTheBlockOfAnotherWaits() async throws {
        let url = try #require(URL(string: "no-such-scheme://api.contoso.com/"))
        let hasEnded = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            ADAuthenticationParameters.parameters(fromResourceUrl: url) { _, _ in
                let second = DispatchSemaphore(value: 0)
                ADAuthenticationParameters.parameters(fromResourceUrl: url) { _, _ in second.signal() }
                done.resume(returning: second.wait(timeout: .now() + 30) == .success)
            }
        }
        #expect(hasEnded)
    }
}

internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

@Suite(.bounded) struct LoopbackRedirectTests {
    private func listen(_ redirectURI: String? = nil, state: String = "s") async throws -> LoopbackRedirect {
        try await LoopbackRedirect.listen(redirectURI: redirectURI, state: state, userID: geteuid())
    }

    /// Sends the request of a browser.
    private func open(_ url: String, post form: String? = nil) async throws -> (status: Int, page: String) {
        let reply = try await WebClient.send(url, post: form)
        #expect(reply.headers["connection"] == "close")
        return (reply.status, reply.body)
    }

    @Test func waitsForTheRedirectOfTheBrowser() async throws {
        let redirect = try await listen()
        defer { redirect.close() }
        #expect(redirect.redirectURI.hasPrefix("http://localhost:"))
        let shown = try await open(redirect.redirectURI + "/?code=c%2B1&state=s")
        #expect(shown.status == 200)
        #expect(shown.page.contains("You are signed in"))
        let url = try await redirect.response()
        #expect(try AuthorizationResponse(url: url, expectedState: "s", issuer: nil).code == Secret("c+1"))
    }

    /// A byte that is marked as urgent (`MSG_OOB`) is none that a library may expect.
    @Test func waitsOnAfterAByteOutOfBand() async throws {
        let redirect = try await listen("http://127.0.0.1/cb")
        defer { redirect.close() }
        let port = try #require(UInt16(redirect.redirectURI.dropFirst("http://127.0.0.1:".count).prefix { $0 != "/" }))
        let descriptor = try LoopbackSocket.connected(to: port)
        defer { close(descriptor) }
        #expect(send(descriptor, [0], 1, Int32(MSG_OOB)) == 1)
        _ = try await open(redirect.redirectURI + "?code=c1&state=s")
        #expect(try await redirect.response() == redirect.redirectURI + "?code=c1&state=s")
    }

    @Test func allowsABrowserNothingButTheStyleOfThePage() async throws {
        let redirect = try await listen()
        defer { redirect.close() }
        let reply = try await WebClient.send(redirect.redirectURI + "/?code=c1&state=s")
        let policy = try #require(reply.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(policy.hasSuffix("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"))
        #expect(reply.headers["cache-control"] == "no-store")
        #expect(reply.headers["referrer-policy"] == "no-referrer")
        #expect(!reply.body.contains("<script"))
        #expect(!reply.body.contains("c1"))
    }

    @Test func acceptsAPostedForm() async throws {
        let redirect = try await listen("http://127.0.0.1/cb")
        defer { redirect.close() }
        _ = try await open(redirect.redirectURI, post: "code=c1&state=s")
        let url = try await redirect.response()
        #expect(url == redirect.redirectURI + "?code=c1&state=s")
    }

    /// To compare its text would take long.
    @Test func readsNoFormWithManyCombiningCharacters() async throws {
        let redirect = try await listen("http://127.0.0.1/cb")
        defer { redirect.close() }
        let marks = String(repeating: "\u{301}\u{316}", count: 100)
        let shown = try await open(redirect.redirectURI, post: "code=c1&state=s&x=\(marks)")
        #expect(shown.status == 404)
    }

    /// Without this response, the sign-in would wait until its time-out.
    @Test func reportsAnErrorWhoseDescriptionIsNotUTF8() async throws {
        let redirect = try await listen("http://127.0.0.1/cb")
        defer { redirect.close() }
        let shown = try await open(
            redirect.redirectURI + "?error=access_denied&error_description=f%FCr+M%FCller&state=s")
        try #require(shown.status == 200)
        let url = try await redirect.response()
        let error = #expect(throws: TokenError.self) {
            try AuthorizationResponse(url: url, expectedState: "s", issuer: nil)
        }
        #expect(error?.code == .accessDenied)
        #expect(error?.details.errorDescription == "f\u{FFFD}r M\u{FFFD}ller")
    }

    /// RFC 6749 section 3.1.2: a redirect keeps the query of the redirect URI.
    @Test func readsTheResponseAtARedirectURIWithAQuery() async throws {
        let redirect = try await listen("http://127.0.0.1/cb?tenant=1")
        defer { redirect.close() }
        let shown = try await open(redirect.redirectURI + "&code=c1&state=s")
        #expect(shown.page.contains("You are signed in"))
        let url = try await redirect.response()
        #expect(url == redirect.redirectURI + "&code=c1&state=s")
        #expect(try AuthorizationResponse(url: url, expectedState: "s", issuer: nil).code == Secret("c1"))
    }

    @Test func readsAFormThatIsPostedToARedirectURIWithAQuery() async throws {
        let redirect = try await listen("http://127.0.0.1/cb?tenant=1")
        defer { redirect.close() }
        _ = try await open(redirect.redirectURI, post: "code=c1&state=s")
        let url = try await redirect.response()
        #expect(try AuthorizationResponse(url: url, expectedState: "s", issuer: nil).code == Secret("c1"))
    }

    @Test(
        arguments: [
            ("http://127.0.0.1/cb", "http://127.0.0.1:", "/cb"), ("http://localhost/a/b", "http://localhost:", "/a/b"),
            ("http://LOCALHOST", "http://LOCALHOST:", ""), ("https://localhost/cb", "http://localhost:", ""),
            ("msauth.com.x://auth", "http://localhost:", ""), ("http://evil.example/cb", "http://localhost:", ""),
            ("http://localhost/cb?tenant=1", "http://localhost:", "/cb?tenant=1"),
        ])
    func usesTheAppsRedirectURIIfItIsOnThisMachine(given: String, prefix: String, suffix: String) async throws {
        let redirect = try await listen(given)
        defer { redirect.close() }
        #expect(redirect.redirectURI.hasPrefix(prefix))
        #expect(redirect.redirectURI.hasSuffix(suffix))
        #expect(Int(redirect.redirectURI.dropFirst(prefix.count).dropLast(suffix.count)) != nil)
    }

    @Test func usesThePortOfTheApp() async throws {
        let first = try await listen()
        let uri = first.redirectURI + "/cb"
        #expect(await failure { try await listen(uri) }?.code == .authorizationFailed)
        first.close()
    }

    @Test(
        arguments: [
            ("/favicon.ico", 404), ("/", 404), ("/cb/", 404), ("/cb", 400), ("/cb?code=c&state=wrong", 400),
            ("/cb?code=evil", 400), ("/cb?code=c&state=s&state=s", 400), ("/cb?%3Cscript%3E=1&state=%zz", 400),
        ])
    func rejectsOtherRequestsAndContinuesToWait(target: String, status: Int) async throws {
        let redirect = try await listen("http://localhost/cb")
        defer { redirect.close() }
        let origin = redirect.redirectURI.dropLast("/cb".count)
        let shown = try await open(origin + target)
        #expect(shown.status == status)
        #expect(!shown.page.contains("script"))
        _ = try await open(redirect.redirectURI + "?code=good&state=s")
        let url = try await redirect.response()
        #expect(url.contains("code=good"))
    }

    /// A browser can connect before the sign-in ends, and send its request afterwards. Nobody is signed in then.
    @Test func rejectsAResponseThatComesWhenTheSignInHasEnded() async {
        let inbox = LoopbackInbox(path: "/cb", state: "s")
        inbox.close()
        #expect(inbox.receive(path: "/cb", parameters: "code=c1&state=s") == .rejected)
        let response = await inbox.next()
        #expect(response == nil)
    }

    /// As when the user reloads the page.
    @Test func answersARepeatedResponseAsTheFirstOne() async {
        let inbox = LoopbackInbox(path: "/cb", state: "s")
        for _ in 0..<2 { #expect(inbox.receive(path: "/cb", parameters: "code=c1&state=s") == .signedIn) }
        inbox.close()
        #expect(inbox.receive(path: "/cb", parameters: "code=c1&state=s") == .signedIn)
        let response = await inbox.next()
        #expect(response == "code=c1&state=s")
    }

    @Test func showsNothingOfTheURLIfTheSignInFailed() async throws {
        let redirect = try await listen()
        defer { redirect.close() }
        let shown = try await open(
            redirect.redirectURI + "/?error=access_denied&error_description=%3Cb%3Einjected%3C%2Fb%3E&state=s")
        #expect(shown.page.contains("Sign-in failed"))
        #expect(!shown.page.contains("access_denied") && !shown.page.contains("injected"))
        let url = try await redirect.response()
        let error = await failure { try AuthorizationResponse(url: url, expectedState: "s", issuer: nil) }
        #expect(error?.code == .accessDenied)
    }

    @Test func returnsTheFirstResponseOnly() async throws {
        let redirect = try await listen()
        defer { redirect.close() }
        _ = try await open(redirect.redirectURI + "/?code=first&state=s")
        _ = try await open(redirect.redirectURI + "/?code=second&state=s")
        let url = try await redirect.response()
        #expect(url.contains("code=first"))
    }

    @Test func refusesAFormThatIsTooLarge() async throws {
        let redirect = try await listen()
        defer { redirect.close() }
        let form = "state=s&code=" + String(repeating: "x", count: LoopbackRequestHandler.sizeLimit)
        let shown = try? await open(redirect.redirectURI + "/", post: form)
        #expect(shown?.status != 200)
        _ = try await open(redirect.redirectURI + "/?code=good&state=s")
        let url = try await redirect.response()
        #expect(url.contains("code=good"))
    }

    @Test func stopsWaitingWhenClosedOrCancelled() async throws {
        let closed = try await listen()
        closed.close()
        #expect(await failure { try await closed.response() }?.code == .cancelled)

        let redirect = try await listen()
        let waiting = Task { await failure { try await redirect.response() } }
        waiting.cancel()
        #expect(await waiting.value?.code == .cancelled)
        redirect.close()
    }

    /// Any process of the user can connect to the listener and send nothing, such as a sandboxed app.
    @Test func servesABrowserBesideManyConnectionsThatSendNothing() async throws {
        let redirect = try await LoopbackRedirect.listen(
            redirectURI: "http://127.0.0.1/cb", state: "s", userID: geteuid(), timeout: .seconds(600))
        defer { redirect.close() }
        let port = try Self.port(of: redirect)
        var idle: [Int32] = []
        defer { for descriptor in idle { close(descriptor) } }
        for _ in 0..<LoopbackInbox.connectionLimit + 4 { idle.append(try LoopbackSocket.connected(to: port)) }
        let shown = try await open(redirect.redirectURI + "?code=c1&state=s")
        #expect(shown.page.contains("You are signed in"))
        // Each connection has a file descriptor of the agent.
        var byte: UInt8 = 0
        let received = recv(idle[0], &byte, 1, 0)
        #expect(received == 0, "the oldest connection is closed")
        let last = idle[LoopbackInbox.connectionLimit + 3]
        let isOpen = recv(last, &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN
        #expect(isOpen, "the latest one is kept")
    }

    /// Those that have ended do not count.
    @Test func servesAnyNumberOfConnectionsOneAfterTheOther() async throws {
        let redirect = try await listen("http://127.0.0.1/cb")
        defer { redirect.close() }
        for _ in 0..<40 {
            let shown = try await open(redirect.redirectURI)
            #expect(shown.status == 400)
        }
    }

    @Test func closesAConnectionThatSendsNothing() async throws {
        let redirect = try await LoopbackRedirect.listen(
            redirectURI: "http://127.0.0.1/cb", state: "s", userID: geteuid(), timeout: .milliseconds(1))
        defer { redirect.close() }
        let descriptor = try LoopbackSocket.connected(to: Self.port(of: redirect))
        defer { close(descriptor) }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        #expect(count == 0)
    }

    private static func port(of redirect: LoopbackRedirect) throws -> UInt16 {
        try UInt16(#require(redirect.listeners.first?.localAddress?.port))
    }

    @Test(arguments: [nil, "http://localhost/cb", "http://127.0.0.1/cb"])
    func listensOnThisMachineOnly(redirectURI: String?) async throws {
        let redirect = try await listen(redirectURI)
        defer { redirect.close() }
        let addresses = redirect.listeners.map { $0.localAddress?.ipAddress ?? "" }
        #expect(!addresses.isEmpty && addresses.allSatisfy { ["127.0.0.1", "::1"].contains($0) }, "\(addresses)")
    }

    @Test func listensFirstAtTheAddressThatTheAppNames() throws {
        let target = LoopbackTarget("http://localhost/cb")
        #expect(target.addresses == ["127.0.0.1", "::1"])
        #expect(LoopbackTarget("http://[::1]/cb").addresses == ["::1", "127.0.0.1"])
        #expect(LoopbackTarget("http://[::1]/cb").uri(port: 9) == "http://[::1]:9/cb")
    }

    #if os(Linux)
        /// SwiftNIO would end the process.
        @Test func refusesASignInIfTheProcessHasNoDescriptors() async {
            await #expect(processExitsWith: .success) {
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(getrlimit(files, &limit) == 0)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                try #require(setrlimit(files, &none) == 0)
                let error = await #expect(throws: TokenError.self) {
                    try await LoopbackRedirect.listen(redirectURI: nil, state: "s", userID: geteuid())
                }
                try #require(setrlimit(files, &limit) == 0)
                #expect(error?.code == .authorizationFailed)
                #expect(error?.message.contains("(\(String(cString: strerror(EMFILE))))") == true)
                let redirect = try await LoopbackRedirect.listen(redirectURI: nil, state: "s", userID: geteuid())
                redirect.close()
            }
        }
    #endif
}

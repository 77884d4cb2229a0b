internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Sign-in in a browser, or with a device code.
@Suite(.bounded) struct InteractiveTests {
    @Test func sendsTheBrowserToTheRightPageWithPKCE() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(
                    parameters: f.parameters(), prompt: "select_account", loginHint: "alice@contoso.com",
                    domainHint: "contoso.com", extraScopes: ScopeSet(["Mail.Read"])))
            for part in [
                "/common/oauth2/v2.0/authorize?",
                "client_id=app-1", "response_type=code", "code_challenge_method=S256", "prompt=select_account",
                "login_hint=alice%40contoso.com", "domain_hint=contoso.com", "Mail.Read", "offline_access", "state=",
            ] {
                #expect(begun.authorizationURL.contains(part))
            }
            #expect(begun.redirectURI.hasPrefix("http://localhost:"))
            try await f.browse(to: begun.authorizationURL)
            let result = try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            #expect(result.account.username == "alice@contoso.com")
            #expect(result.idToken != nil)
        }
    }

    /// The reply could not hold it.
    @Test func refusesASignInWhoseURLWouldBeTooLong() async throws {
        try await AgentFixture.with { f in
            var parameters = try f.parameters()
            // Each blank is three characters of the URL.
            parameters.claims = "{\"a\":\"" + String(repeating: " ", count: 12_000) + "\"}"
            let request = BeginInteractive(parameters: parameters)
            let error = await #expect(throws: TokenError.self) { try await f.agent.beginInteractive(request) }
            #expect(error?.code == .invalidDeveloperParameter && error?.message.contains("shorten claims") == true)
        }
    }

    @Test func endsWhenItIsCancelled() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let wait = Task { try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID)) }
            try await f.agent.cancelInteraction(CancelInteraction(sessionID: begun.sessionID))
            let failure = await #expect(throws: TokenError.self) { try await wait.value }
            #expect(failure?.code == .sessionCanceled)
            try await f.agent.cancelInteraction(CancelInteraction(sessionID: begun.sessionID))
        }
    }

    @Test func limitsTheNumberOfSessionsOfAProcess() async throws {
        try await AgentFixture.with { f in
            let request = BeginInteractive(parameters: try f.parameters())
            var begun: [BeginInteractive.Reply] = []
            for _ in 0..<8 { begun.append(try await f.agent.beginInteractive(request)) }
            let failure = await #expect(throws: TokenError.self) { try await f.agent.beginInteractive(request) }
            #expect(failure?.code == .interactionInProgress)
            try await f.agent.cancelInteraction(CancelInteraction(sessionID: begun[0].sessionID))
            _ = try await f.agent.beginInteractive(request)
            let other = AgentClient(socketPath: f.socketPath)
            let again = await #expect(throws: TokenError.self) { try await other.beginInteractive(request) }
            #expect(again?.code == .interactionInProgress, "another connection of the same process")
        }
    }

    @Test func refusesASecondWaitForASession() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let wait = CompleteInteractive(sessionID: begun.sessionID)
            let peer = try RawPeer(f.socketPath)
            try peer.write(wait, id: 1)
            try peer.write(wait, id: 2)
            guard let reply = try await offPool({ try peer.reply() }), let error = try reply.failure else {
                Issue.record("expected a failure")
                return
            }
            #expect(reply.id == 2)
            #expect(error.code == .interactionInProgress)
            try await f.agent.cancelInteraction(CancelInteraction(sessionID: begun.sessionID))
            #expect(try await offPool { try peer.reply() }?.id == 1)
        }
    }

    @Test func reportsThatTheUserHasDeclined() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let state = try #require(begun.authorizationURL.split(separator: "&").first { $0.hasPrefix("state=") })
            try await f.browse(to: "\(begun.redirectURI)?error=access_denied&\(state)")
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            }
            #expect(failure?.code == .accessDenied)
        }
    }

    // Mirrors: MSIDWebOAuth2AuthCodeResponse initWithURL, and requestCode of ADAL's ADAuthenticationRequest+WebRequest
    @Test(
        arguments: [(nil, .serverInvalidResponse), ("https://graph.microsoft.com", .authorizationFailed)]
            as [(String?, TokenError.Code)])
    func reportsAResponseWithoutACodeAsTheLibraryOfTheAppDoes(resource: String?, code: TokenError.Code) async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(resource: resource)))
            let state = try #require(begun.authorizationURL.split(separator: "&").first { $0.hasPrefix("state=") })
            try await f.browse(to: "\(begun.redirectURI)?\(state)")
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            }
            #expect(failure?.code == code)
            #expect(failure?.reason == .provider)
        }
    }

    @Test func reportsAMismatchedAccount() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account
            let parameters = try f.parameters()
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: parameters, account: alice.reference, loginHint: "bob@contoso.com"))
            try await f.browse(to: begun.authorizationURL)
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            }
            #expect(failure?.code == .mismatchedAccount)
            #expect(failure?.details.correlationID == parameters.correlationID)
        }
    }

    /// The login hint leads to Bob, and the app expects Alice, whom it knows by her name only.
    @Test(arguments: [("bob@contoso.com", false), ("alice@contoso.com", true)])
    func comparesAnAccountThatIsNamedByItsUsername(hint: String, isSame: Bool) async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(
                    parameters: f.parameters(), account: AccountReference(username: "Alice@Contoso.com"),
                    loginHint: hint))
            try await f.browse(to: begun.authorizationURL)
            do throws(TokenError) {
                _ = try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
                #expect(isSame)
            } catch {
                #expect(!isSame && error.code == .mismatchedAccount)
            }
        }
    }

    /// AD FS of Windows Server 2012 R2 does not say who has signed in, so that nobody can be compared.
    @Test func acceptsAResponseThatNamesNobody() async throws {
        var settings = EmulatorSettings()
        settings.adfs.level = .windows2012R2
        try await AgentFixture.online(settings: settings) { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(
                    parameters: f.parameters(
                        at: "https://fs.contoso.com/adfs", resource: "https://api.contoso.com", validates: false),
                    account: AccountReference(username: "alice@contoso.com"), loginHint: "alice@contoso.com"))
            try await f.browse(to: begun.authorizationURL)
            let result = try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            #expect(result.idToken == nil)
            #expect(result.account.username == nil && result.tenantProfile?.username == nil)
        }
    }

    /// AD FS does not list `.default` among the granted scopes.
    @Test func findsTheTokenForAResourceOfADFSAgain() async throws {
        try await AgentFixture.online { f in
            let scope = "https://api.contoso.com/.default"
            let parameters = try f.parameters(at: "https://fs.contoso.com/adfs", scopes: [scope], validates: false)
            let first = try await f.signIn("alice@contoso.com", parameters)
            #expect(first.scopes.contains(scope))
            let second = try await f.silent(parameters, first.account.reference)
            #expect(second.accessToken == first.accessToken)
            #expect(f.redemptions == 0)
        }
    }

    @Test func refusesAFinishedSession() async throws {
        try await AgentFixture.with { f in
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(CompleteInteractive(sessionID: "no such"))
            }
            #expect(failure?.code == .sessionCanceled)
        }
    }

    /// No message could have it.
    @Test func refusesAPageWhoseURLIsTooLong() async throws {
        try await AgentFixture.with { f in
            // Each blank has three bytes in a URL.
            let claims = #"{"access_token":{"x":{"value":"\#(String(repeating: " ", count: 12_000))"}}}"#
            let request = BeginInteractive(parameters: try f.parameters(claims: claims))
            let failure = await #expect(throws: TokenError.self) { try await f.agent.beginInteractive(request) }
            #expect(failure?.code == .invalidDeveloperParameter)
            #expect(failure?.message.contains("shorten claims") == true)
        }
    }

    @Test func asksForCredentialsAgainAfterASignOut() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account
            let app = try f.parameters().clientID
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: alice.reference))
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(), account: alice.reference))
            #expect(begun.authorizationURL.contains("prompt=login"))
        }
    }

    @Test(arguments: [nil, "https://graph.microsoft.com"])
    func signsInWithACodeOnAnotherDevice(resource: String?) async throws {
        try await AgentFixture.with { f in
            f.timers.skipDelays(upTo: 5)
            let parameters = try f.parameters(resource: resource)
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            #expect(begun.message.contains(begun.userCode))
            async let outcome = f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            await f.emulator.control.waitForCount(.deviceCode, atLeast: 2)
            #expect(f.emulator.control.approveDeviceCode(begun.userCode, username: "alice@contoso.com") == 1)
            #expect(try await outcome.account.username?.lowercased() == "alice@contoso.com")
        }
    }

    @Test func showsNoCodeIfNobodyMayBeAsked() async throws {
        try await AgentFixture.with { f in
            let request = try BeginInteractive(parameters: f.parameters(), prompt: "none")
            let presenter = SignInPresenter(browserCommands: [], showDeviceCode: { _ in Issue.record("a code") })
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.signIn(request, presenter: presenter)
            }
            #expect(failure?.code == .authorizationFailed)
            #expect(f.emulator.control.counts[.deviceCodeStart] == 0)
        }
    }

    @Test func reportsAMismatchedAccountOfADeviceCode() async throws {
        try await AgentFixture.with { f in
            f.timers.skipDelays(upTo: 5)
            let bob = try await f.signIn("bob@contoso.com", f.parameters()).account.reference
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: f.parameters(), account: bob))
            #expect(f.emulator.control.approveDeviceCode(begun.userCode, username: "alice@contoso.com") == 1)
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            }
            #expect(failure?.code == .mismatchedAccount)
        }
    }

    @Test func endsWhenTheDeviceCodeIsDeclinedOrCancelled() async throws {
        try await AgentFixture.with { f in
            f.timers.skipDelays(upTo: 5)
            let declined = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: f.parameters()))
            #expect(f.emulator.control.declineDeviceCode(declined.userCode) == 1)
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: declined.sessionID))
            }
            #expect(failure?.code == .accessDenied)

            let cancelled = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: f.parameters()))
            let wait = Task { try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: cancelled.sessionID)) }
            try await f.agent.cancelInteraction(CancelInteraction(sessionID: cancelled.sessionID))
            let ending = await #expect(throws: TokenError.self) { try await wait.value }
            #expect(ending?.code == .sessionCanceled)
        }
    }

    /// An AD FS is validated by the domain of the name. The agent answers with the name that it was sent.
    @Test(arguments: [("alice@contoso.com", "alice@contoso.com"), (nil, "bob@contoso.com")] as [(String?, String)])
    func sendsTheUsernameToAnADFSWithADeviceCode(hint: String?, sent: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            guard let request = try? frame.request(BeginDeviceCode.self) else { return nil }
            let name = request.parameters.extraParameters["login_hint"]
            return ReplyFrame.encode(TokenError(.serverOAuth, name ?? "nobody"), id: frame.id)
        }
        defer { agent.end() }
        let parameters = TokenParameters(
            clientID: try #require(ClientID("app-1")), authority: try Authority("https://fs.contoso.com/adfs"),
            scopes: ScopeSet(["openid"]), extraParameters: ["login_hint": "bob@contoso.com"])
        let error = await #expect(throws: TokenError.self) {
            try await AgentClient(socketPath: path).signIn(
                BeginInteractive(parameters: parameters, loginHint: hint),
                presenter: SignInPresenter(method: .deviceCode))
        }
        #expect(error?.message == sent)
    }

    @Test func refusesPlainHTTPExceptForLoopbackHosts() async throws {
        let failure = #expect(throws: TokenError.self) { try Authority("http://login.example.com/common") }
        #expect(failure?.code == .invalidDeveloperParameter)
    }
}

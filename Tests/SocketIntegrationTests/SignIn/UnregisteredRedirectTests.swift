internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Sign-ins with an unregistered redirect URI: the identity provider shows an error page, and does not redirect.
@Suite(.bounded) struct UnregisteredRedirectTests {
    private static let own = "msauth.com.contoso.notes://auth"

    /// An emulator at which only the redirect URI of the original library's app is registered.
    private static var settings: EmulatorSettings {
        var settings = EmulatorSettings()
        settings.redirectURIs = ["app-1": [own]]
        return settings
    }

    @Test(arguments: [own, nil]) func namesTheRedirectURIToRegister(redirectURI: String?) async throws {
        try await AgentFixture.with(settings: Self.settings) { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(redirectURI: redirectURI)))
            #expect(begun.expiresIn == 600)
            let wait = CompleteInteractive(sessionID: begun.sessionID)
            let peer = try RawPeer(f.socketPath)
            try peer.write(wait, id: 1)
            // The second call is refused, which shows that the first one waits.
            try peer.write(wait, id: 2)
            #expect(try await offPool { try peer.reply() }?.id == 2)
            try await f.browse(to: begun.authorizationURL)
            #expect(f.signIns == 0)
            try await f.timers.advance(by: begun.expiresIn)
            guard let reply = try await offPool({ try peer.reply() }), let error = try reply.failure else {
                Issue.record("expected a failure")
                return
            }
            expect(error, names: begun.redirectURI, replaced: redirectURI)
        }
    }

    @Test func namesTheRedirectURIToRegisterToALateWait() async throws {
        try await AgentFixture.with(settings: Self.settings) { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(redirectURI: Self.own)))
            try await f.timers.advance(by: begun.expiresIn)
            let wait = CompleteInteractive(sessionID: begun.sessionID)
            let late = try #require(
                await #expect(throws: TokenError.self) { try await f.agent.completeInteractive(wait) })
            expect(late, names: begun.redirectURI, replaced: Self.own)
            let again = await #expect(throws: TokenError.self) { try await f.agent.completeInteractive(wait) }
            #expect(again?.code == .sessionCanceled)
        }
    }

    @Test func removesAnExpiredSessionThatNoRequestWaitsFor() async throws {
        try await AgentFixture.with { f in
            let request = BeginInteractive(parameters: try f.parameters())
            var begun: [BeginInteractive.Reply] = []
            for _ in 0..<8 { begun.append(try await f.agent.beginInteractive(request)) }
            try await f.timers.advance(by: 600)
            // Expired sessions do not count for the limit.
            _ = try await f.agent.beginInteractive(request)
            try await f.timers.advance(by: 60)
            let gone = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun[0].sessionID))
            }
            #expect(gone?.code == .sessionCanceled)
        }
    }

    @Test func signsInOnceTheRedirectURIIsRegistered() async throws {
        var settings = Self.settings
        settings.redirectURIs["app-1"]?.append("http://localhost")
        try await AgentFixture.with(settings: settings) { f in
            let result = try await f.signIn("alice@contoso.com", f.parameters(redirectURI: Self.own))
            #expect(result.account.username == "alice@contoso.com")
        }
    }

    private func expect(_ error: TokenError, names uri: String, replaced: String?) {
        #expect(error.code == .timedOut)
        #expect(error.message.contains(uri), "\(error.message)")
        #expect(error.message.contains("AADSTS50011"))
        #expect(error.message.contains("register http://localhost as a redirect URI"))
        if let replaced { #expect(error.message.contains(replaced)) }
    }
}

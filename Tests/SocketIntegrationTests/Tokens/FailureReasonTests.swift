internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// What a failure says does not fit.
@Suite(.bounded) struct FailureReasonTests {
    private static let alice = "alice@contoso.com"

    private func reason(_ f: AgentFixture, _ parameters: TokenParameters, _ name: String) async -> TokenError.Reason? {
        let error = await #expect(throws: TokenError.self) {
            try await f.silent(parameters, AccountReference(username: name))
        }
        return error?.reason
    }

    @Test func namesTheAccount() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            #expect(await reason(f, try f.parameters(), "bob@contoso.com") == .account)
            #expect(await reason(f, try f.parameters("app-2"), Self.alice) == .account)
        }
    }

    @Test func namesTheScopesOrTheAuthorityOfTokensThatCannotBeRenewed() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            for credential in try await f.agent.listCredentials(ListCredentials())
            where credential.kind == .refreshToken {
                _ = try await f.agent.removeCredential(RemoveCredential(id: credential.id))
            }
            #expect(await reason(f, try f.parameters(scopes: ["Mail.Read"]), Self.alice) == .scope)
            #expect(await reason(f, try f.parameters(realm: "fabrikam.com"), Self.alice) == .authority)
        }
    }

    @Test func namesTheProviderThatRefuses() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account.reference
            f.emulator.control.inject(
                Fault {
                    ($0.grant, $0.error, $0.suberror) = (.refreshToken, "invalid_grant", "basic_action")
                })
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.reason == .provider)
            // Until then the refusal is repeated, unless the user signs in.
            #expect(error?.details.throttledUntil == f.clock.now + 120)
        }
    }

    /// A redirect has no other place for it than the description, and not every provider writes it there.
    @Test func hasTheCorrelationIDOfTheSignInThatWasRefused() async throws {
        try await AgentFixture.with { f in
            let parameters = try f.parameters()
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: parameters))
            let query = try #require(begun.authorizationURL.split(separator: "?").last)
            let state = try #require(query.split(separator: "&").first { $0.hasPrefix("state=") })
            let url = "\(begun.redirectURI)?error=access_denied&error_description=The+user+pressed+Cancel.&\(state)"
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.completeInteractive(
                    CompleteInteractive(sessionID: begun.sessionID, responseURL: url))
            }
            #expect(error?.code == .accessDenied && error?.reason == .user)
            #expect(error?.details.correlationID == parameters.correlationID)
        }
    }

    /// The response names nobody.
    @Test func hasTheCorrelationIDOfAResponseThatCannotBeSaved() async throws {
        try await AgentFixture.with { f in
            let parameters = try f.parameters()
            f.emulator.control.settings.tokenReply = ["client_info": nil, "id_token": nil]
            let error = await #expect(throws: TokenError.self) { try await f.signIn(Self.alice, parameters) }
            #expect(error?.code == .serverInvalidResponse)
            #expect(error?.details.correlationID == parameters.correlationID)
        }
    }

    @Test func namesTheLockedStore() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            _ = try await f.agent.lock()
            #expect(await reason(f, try f.parameters(), Self.alice) == .locked)
        }
    }

    @Test func namesTheNetwork() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account.reference
            await f.goOffline()
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.reason == .network)
        }
    }

    /// For apps that know no codes but these.
    @Test func isPartOfEveryFailure() async throws {
        try await AgentFixture.with { f in
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.setKey(SetKey(source: .passphrase))
            }
            #expect(error?.details.reason == .request)
        }
    }
}

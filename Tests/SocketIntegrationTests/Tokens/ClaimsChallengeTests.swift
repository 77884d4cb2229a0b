internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Apps that handle the claims challenges of a resource: continuous access evaluation, and authentication contexts.
@Suite(.bounded) struct ClaimsChallengeTests {
    private static let alice = "alice@contoso.com"

    /// The parameters of an app with the capability `cp1`.
    private func parameters(_ f: AgentFixture, claims: String? = nil) throws -> TokenParameters {
        var parameters = try f.parameters(claims: claims)
        parameters.capabilities = ["cp1"]
        return parameters
    }

    /// Whether Microsoft Graph accepts a token.
    private func isAccepted(_ f: AgentFixture, _ token: TokenResult) async throws -> Bool {
        try await f.emulator.graph(token.accessToken.reveal()).status == 200
    }

    /// The claims request with which Microsoft Graph refuses a token.
    private func challenge(_ f: AgentFixture, _ token: TokenResult) async throws -> String {
        try await f.emulator.requestedClaims(token.accessToken.reveal())
    }

    /// The refused token is in the memory of another process, and would be valid for a day.
    @Test func replacesTheRefusedTokenForEveryProcess() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, parameters(f))
            let account = signedIn.account.reference
            let request = AcquireTokenSilent(parameters: try parameters(f), account: account)
            let other = AgentClient(socketPath: f.socketPath, clock: { f.clock.now })
            #expect(try await other.acquireTokenSilent(request).accessToken == signedIn.accessToken)
            #expect(signedIn.expiresOn - f.clock.now > 80_000)
            #expect(try await isAccepted(f, signedIn))

            f.emulator.control.revokeTokens(refreshTokens: .valid)
            let claims = try await challenge(f, signedIn)
            let renewed = try await f.silent(parameters(f, claims: claims), account)
            #expect(renewed.accessToken != signedIn.accessToken && !renewed.isFromCache)
            #expect(try await isAccepted(f, renewed))
            for client in [f.agent, other] {
                let cached = try await client.acquireTokenSilent(request)
                #expect(cached.accessToken == renewed.accessToken && cached.isFromCache)
            }
            #expect(f.redemptions == 1)
            // The time of `refresh_in` has come, and the provider cannot be reached.
            f.clock.advance(by: 50_000)
            f.emulator.control.inject(.status(503, grant: .refreshToken, count: 0))
            #expect(try await f.agent.acquireTokenSilent(request).accessToken == renewed.accessToken)
        }
    }

    @Test(arguments: [RefreshTokenRevocation.revoked, .interactionRequired])
    func asksForASignInWithTheClaims(refreshTokens: RefreshTokenRevocation) async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, parameters(f))
            let account = signedIn.account.reference
            f.emulator.control.revokeTokens(refreshTokens: refreshTokens)
            let withClaims = try parameters(f, claims: try await challenge(f, signedIn))
            let error = await #expect(throws: TokenError.self) { try await f.silent(withClaims, account) }
            #expect(error?.code == .interactionRequired)
            // The refused token stays for requests without claims, as in MSAL.
            #expect(try await f.silent(parameters(f), account).accessToken == signedIn.accessToken)

            let again = try await f.signIn(Self.alice, withClaims)
            #expect(try await isAccepted(f, again))
            #expect(try await f.silent(parameters(f), account).accessToken == again.accessToken)
            // The refusal is not repeated after the sign-in.
            #expect(try await isAccepted(f, f.silent(withClaims, account)))
        }
    }

    @Test func asksForASignInWhileTheUserIsDisabled() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn(Self.alice, parameters(f))
            f.emulator.control.setDisabled(true, username: Self.alice)
            let claims = try await challenge(f, signedIn)
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(parameters(f, claims: claims), signedIn.account.reference)
            }
            #expect(error?.code == .interactionRequired && error?.details.stsErrorCodes == [50057])
        }
    }

    /// The refresh token stands for the sign-in, which has satisfied the context: the user is asked once.
    @Test func stepsUpToAnAuthenticationContextOnce() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.requiredContext = "c1"
            let signedIn = try await f.signIn(Self.alice, parameters(f))
            let account = signedIn.account.reference
            let claims = try await challenge(f, signedIn)
            let withClaims = try parameters(f, claims: claims)
            let error = await #expect(throws: TokenError.self) { try await f.silent(withClaims, account) }
            #expect(error?.code == .interactionRequired)

            let steppedUp = try await f.signIn(Self.alice, withClaims)
            #expect(try await isAccepted(f, steppedUp))
            #expect(try await f.silent(parameters(f), account).accessToken == steppedUp.accessToken)
            // A token that is requested without the context does not have it.
            let renewed = try await f.silent(parameters(f), account, force: true)
            #expect(try await challenge(f, renewed) == claims)
            #expect(try await isAccepted(f, f.silent(withClaims, account)))
            #expect(f.signIns == 2)
        }
    }

    /// The base64 of the header, which is no claims request.
    @Test func refusesAChallengeThatIsNotDecoded() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account.reference
            let parameters = try f.parameters(claims: "eyJhY2Nlc3NfdG9rZW4iOnt9fQ==")
            let error = await #expect(throws: TokenError.self) { try await f.silent(parameters, account) }
            #expect(error?.code == .invalidDeveloperParameter && error?.message.contains("base64") == true)
            #expect(f.redemptions == 0)
        }
    }
}

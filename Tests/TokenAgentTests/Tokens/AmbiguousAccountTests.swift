internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent

/// Silent requests that fit several accounts, here of two people with one username.
@Suite(.bounded) struct AmbiguousAccountTests {
    private let parts = Parts()
    private let username = "pat@contoso.com"

    @Test func advisesTheIdentifierIfTheRequestHasTheUsername() async throws {
        for person in ["ada", "bob"] { try await signIn(person) }
        let error = try #require(try await request(AccountReference(username: username)).error())
        #expect(error.code == .ambiguousAccount)
        #expect(error.message == "several accounts have this username; name one by its home account ID")
    }

    @Test func advisesBothIfTheRequestNamesNoAccount() async throws {
        for person in ["ada", "bob"] { try await signIn(person) }
        let error = try #require(try await request(AccountReference()).error())
        #expect(error.code == .ambiguousAccount)
        #expect(error.message.hasSuffix("name one by its home account ID or username"))
    }

    /// The advice has to help.
    @Test func findsTheAccountByItsIdentifier() async throws {
        for person in ["ada", "bob"] { try await signIn(person) }
        #expect(try await request(.sample("bob")).value().accessToken == Secret("at-bob"))
    }

    private func request(_ account: AccountReference) async -> Pending<TokenResult> {
        await parts.acquire(AcquireTokenSilent(parameters: .sample(), account: account))
    }

    /// Signs in a person who has the username.
    private func signIn(_ person: String) async throws {
        let claims = #"{"oid":"\#(person)","preferred_username":"\#(username)","sub":"\#(person)","tid":"tenant"}"#
        var tokens = IssuedTokens.sample(person, person)
        tokens.idToken = "e30.\(Base64URL.encode(Data(claims.utf8)))."
        let (issued, parameters) = (tokens, TokenParameters.sample())
        let saved = await parts.start { parts async throws(TokenError) in
            try await parts.core.saver.save(issued, from: .signIn, parameters, at: parameters.authority)
        }
        try await saved.value()
    }
}

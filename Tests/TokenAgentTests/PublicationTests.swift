internal import AccessPolicy
internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent

/// The requests that a published socket takes for those of its account.
@Suite(.bounded) struct PublicationTests {
    /// An app of ADAL names its user by the ID that it has saved, which may be from before a rename.
    @Test func takesEveryNameThatItsAccountHasOrHadForItsAccount() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(resource: "https://graph.windows.net")
        for name in ["alice@contoso.com", "alicia@contoso.com"] {
            let claims = ["ver": "1.0", "tid": CacheBuilder.tenant, "oid": "oid-alice", "sub": "alice", "upn": name]
            let tokens = IssuedTokens(
                accessToken: Secret("at"), refreshToken: Secret("rt"), idToken: CacheBuilder.idToken(claims),
                homeAccountID: CacheBuilder.account("alice").homeAccountID)
            try builder.save(tokens, from: .signIn, parameters)
        }
        let account = try #require(builder.cache.partition(.standard).accountKeys.first)
        let publication = Publication(
            id: 1,
            rules: SocketRules(
                userIDs: [1000], clientIDs: [parameters.clientID], sharingGroup: .standard, scopes: ScopeSet([]),
                authorities: [], account: nil),
            account: account,
            summary: PublishedSocket(
                path: "/srv/build.sock", label: "build", userIDs: [1000], clientIDs: [parameters.clientID],
                sharingGroup: .standard, scopes: ScopeSet([]), authorities: [], account: AccountReference(),
                expiresOn: .max, connections: 0))
        for (name, isOwn) in [("alicia@contoso.com", true), ("Alice@contoso.com", true), ("bob@contoso.com", false)] {
            let request = AcquireTokenSilent(parameters: parameters, account: AccountReference(username: name))
            #expect(publication.omittingAccount(of: request, in: builder.cache).account.isEmpty == isOwn, "\(name)")
        }
    }
}

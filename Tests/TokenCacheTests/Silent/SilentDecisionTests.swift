internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// The decision on a silent request.
@Suite(.bounded) struct SilentDecisionTests {
    @Test func usesAValidToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        #expect(try builder.decide(builder.parameters(), CacheBuilder.account("alice")).token == "at-alice-User.Read")
    }

    @Test func findsATokenByASubsetOfItsScopesInAnyCaseAndOrder() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read", "Mail.Read"]))
        let wanted = try builder.parameters(scopes: ["mail.read"])
        #expect(builder.decide(wanted, CacheBuilder.account("alice")).token != nil)
        let more = try builder.parameters(scopes: ["mail.read", "Files.Read"])
        #expect(builder.decide(more, CacheBuilder.account("alice")).candidates == ["rt-alice-app-1"])
    }

    @Test(arguments: [(3600, 300, true), (301, 300, true), (299, 300, false), (299, 100, true), (50, 100, false)])
    func countsATokenAsExpiredWithinTheBuffer(_ life: Int64, _ buffer: Int64, _ isUsed: Bool) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), expiresIn: life)
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), buffer: buffer)
        #expect((decision.token != nil) == isUsed)
    }

    /// Otherwise the standard buffer would leave nothing of a token that lives for five minutes, such as Keycloak's.
    @Test(
        arguments: [
            (300, 150, 300, true), (300, 151, 300, false), (700, 400, 300, true), (700, 401, 300, false),
            (300, 0, 301, false), (300, 200, 100, true), (0, 0, 300, false),
        ] as [(Int64, Int64, Int64, Bool)])
    func countsATokenOfAnOpenIDProviderAsValidForHalfOfAShortLife(
        _ life: Int64, _ age: Int64, _ buffer: Int64, _ isUsed: Bool
    ) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://id.contoso.example/p", .openID)
        let account = try builder.signIn("alice", parameters, expiresIn: life).account.reference
        builder.now += age
        let decision = builder.decide(parameters, account, buffer: buffer)
        #expect((decision.token != nil) == isUsed)
        guard case .use(_, let times?) = decision else { return }
        #expect(times.upperBound == builder.now, "each of these is the last second")
    }

    @Test func doesNotTrustATokenSavedInTheFuture() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        builder.now -= 7200
        #expect(try builder.decide(builder.parameters(), CacheBuilder.account("alice")).candidates != nil)
    }

    /// Otherwise it would be returned as a valid one after any failure, for the time by which the clock was set back.
    @Test func doesNotFallBackToATokenSavedInTheFuture() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), extendedExpiresIn: 7200)
        builder.now -= 7200
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), extended: true)
        guard case .redeem(let plan) = decision else {
            Issue.record("expected a redemption")
            return
        }
        #expect(plan.fallback == nil)
    }

    /// Otherwise every request would redeem a refresh token, for the time by which the clock was set back: a response for `email` alone
    /// does not replace a token that has other scopes.
    @Test func prefersAValidTokenToOneSavedInTheFuture() throws {
        var builder = CacheBuilder()
        let wanted = try builder.parameters(scopes: ["email"])
        try builder.signIn("alice", wanted)
        builder.now += 1800
        try builder.signIn("alice", builder.parameters(scopes: ["User.Read", "email"]))
        builder.now -= 1800
        guard case .use(let result, let times) = builder.decide(wanted, CacheBuilder.account("alice")) else {
            Issue.record("expected a hit")
            return
        }
        #expect(result.accessToken.reveal() == "at-alice-email")
        #expect(times == nil)
    }

    /// Other libraries save under other names of the cloud. An import keeps a token for more scopes beside the one that has expired.
    @Test func prefersAValidTokenToAnExpiredOneUnderThePreferredNameOfTheCloud() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), expiresIn: 100)
        let alice = CacheBuilder.account("alice")
        let account = AccountKey(issuer: .microsoft, homeAccountID: alice.homeAccountID, username: nil)
        var token = try #require(builder.cache.partition(.standard)[account].accessTokens.values.first)
        #expect(token.environment == "login.windows.net")
        token.environment = "login.microsoftonline.com"
        token.scopes = ScopeSet(["User.Read", "Mail.Read"])
        token.secret = Secret("at-imported")
        token.expiresOn += 3600
        builder.cache.apply([.save(.accessToken(token))], in: .standard)
        #expect(try builder.decide(builder.parameters(), alice, buffer: 0).token == "at-alice-User.Read")
        builder.now += 200
        #expect(try builder.decide(builder.parameters(), alice).token == "at-imported")
    }

    @Test func redeemsWhenForcedOrWhenClaimsAreRequested() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let account = CacheBuilder.account("alice")
        #expect(try builder.decide(builder.parameters(), account, force: true).candidates == ["rt-alice-app-1"])
        let withClaims = try builder.parameters(claims: #"{"access_token":{}}"#)
        #expect(builder.decide(withClaims, account).candidates == ["rt-alice-app-1"])
    }

    @Test func keepsATokenPastItsRefreshTimeAsFallback() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), refreshIn: 100)
        builder.now += 200
        guard case .redeem(let plan) = try builder.decide(builder.parameters(), CacheBuilder.account("alice")) else {
            Issue.record("expected a redemption")
            return
        }
        #expect(plan.fallback?.accessToken.reveal() == "at-alice-User.Read")
    }

    @Test func offersAnExpiredTokenInItsExtendedLifetimeOnlyToAppsThatAllowIt() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), expiresIn: 100, extendedExpiresIn: 7200)
        builder.now += 200
        for (allowed, hasFallback) in [(true, true), (false, false)] {
            let decision = try builder.decide(
                builder.parameters(), CacheBuilder.account("alice"), extended: allowed)
            guard case .redeem(let plan) = decision else {
                Issue.record("expected a redemption")
                return
            }
            #expect((plan.fallback != nil) == hasFallback)
            #expect(plan.fallback?.isExtendedLifetime ?? true)
        }
    }

    /// Without a refresh token nothing is sent, so that no outage shows.
    @Test func usesATokenThatCannotBeRenewedUntilItExpiresAndNoLonger() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters(), expiresIn: 400, extendedExpiresIn: 7200)
        let alice = CacheBuilder.account("alice")
        let account = AccountKey(issuer: .microsoft, homeAccountID: alice.homeAccountID, username: nil)
        let keys = builder.cache.partition(.standard)[account].refreshTokens.keys
        builder.cache.apply(
            keys.map {
                .remove(RecordKey(group: SharingGroup.standard.name, kind: .refreshToken, key: $0), account: account)
            },
            in: .standard)
        builder.now += 399
        #expect(try builder.decide(builder.parameters(), alice, extended: true).token == "at-alice-User.Read")
        builder.now += 1
        #expect(try builder.decide(builder.parameters(), alice, extended: true).needsInteraction)
    }

    /// Somebody was deleted, and created again under the same name: ADAL has only the name.
    @Test func takesTheUserWhoSignedInLastOfThoseOfOneTenantForADAL() throws {
        var builder = CacheBuilder()
        let (resource, other) = ("https://graph.windows.net", "https://outlook.office365.com")
        let parameters = try builder.parameters(resource: resource)
        let named = AccountReference(username: "alice@contoso.com")
        try builder.signIn("alice", parameters)
        builder.now += 60
        var tokens = IssuedTokens(
            accessToken: Secret("at-2"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-2"), isMultiResource: true,
            idToken: CacheBuilder.idToken([
                "ver": "1.0", "tid": CacheBuilder.tenant, "oid": "oid-2", "sub": "s", "upn": "alice@contoso.com",
            ]), homeAccountID: HomeAccountID(uid: "oid-2", utid: CacheBuilder.tenant), clientInfo: nil, familyID: nil)
        try builder.save(tokens, from: .signIn, parameters)
        #expect(builder.decide(parameters, named).token == "at-2")
        #expect(try builder.decide(builder.parameters(resource: other), named).candidates == ["rt-2"])
        #expect(try builder.decide(builder.parameters(), named) == .ambiguousAccount, "MSAL names an identifier")
        // Not of two tenants: they are two people.
        tokens.homeAccountID = HomeAccountID(uid: "oid-3", utid: "7a1e0000-0000-4000-8000-000000000002")
        try builder.save(tokens, from: .signIn, parameters)
        #expect(builder.decide(parameters, named) == .ambiguousAccount)
        let atHome = try builder.parameters(
            resource: resource, authority: "https://login.microsoftonline.com/\(CacheBuilder.tenant)")
        #expect(builder.decide(atHome, named).candidates == ["rt-2"], "the tenant's own user comes before a guest")
    }

    @Test func takesTheWorkAccountForADALAndNotThePersonalOneOfTheSameName() throws {
        var builder = CacheBuilder()
        let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
        try builder.signIn("alice", builder.parameters(), tenant: personal, homeTenant: personal)
        try builder.signIn("alice", builder.parameters(resource: "https://graph.windows.net"), refreshToken: "rt-work")
        let other = try builder.parameters(resource: "https://outlook.office365.com")
        #expect(builder.decide(other, AccountReference(username: "alice@contoso.com")).candidates == ["rt-work"])
    }

    /// `organizations` admits no personal accounts.
    @Test func sendsNoRequestForOrganizationsToTheTenantOfPersonalAccounts() throws {
        var builder = CacheBuilder()
        let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
        try builder.signIn("alice", builder.parameters(), tenant: personal, homeTenant: personal)
        let parameters = try builder.parameters(authority: "https://login.microsoftonline.com/organizations")
        let account = CacheBuilder.account("alice", tenant: personal)
        guard case .redeem(let plan) = builder.decide(parameters, account) else {
            Issue.record("expected a redemption")
            return
        }
        #expect(plan.authority.realm == "organizations")
    }

    /// AD FS issues such tokens.
    @Test func redeemsTheRefreshTokenOfOneResourceForNoOther() throws {
        var builder = CacheBuilder()
        let authority = "https://fs.contoso.com/adfs"
        let parameters = try builder.parameters(resource: "https://mail.contoso.com", authority: authority)
        let tokens = IssuedTokens(
            accessToken: Secret("at"), refreshToken: Secret("rt"), isMultiResource: false,
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v1))
        let account = try builder.save(tokens, from: .signIn, parameters).account.reference
        #expect(builder.decide(parameters, account, force: true).candidates == ["rt"])
        let other = try builder.parameters(resource: "https://files.contoso.com", authority: authority)
        #expect(builder.decide(other, account, force: true).needsInteraction)
    }

    /// The v1 endpoint of Entra issues such tokens, too, each for one tenant.
    @Test func redeemsTheRefreshTokenOfOneResourceForNoOtherRealm() throws {
        var builder = CacheBuilder()
        let (host, resource) = ("https://login.microsoftonline.com", "https://graph.windows.net")
        let parameters = try builder.parameters(resource: resource, authority: "\(host)/contoso.com")
        let alice = CacheBuilder.account("alice")
        let tokens = IssuedTokens(
            accessToken: Secret("at"), refreshToken: Secret("rt"), isMultiResource: false,
            idToken: CacheBuilder.idToken("alice", tenant: CacheBuilder.tenant, version: .v1),
            homeAccountID: alice.homeAccountID)
        try builder.save(tokens, from: .signIn, parameters)
        #expect(builder.decide(parameters, alice, force: true).candidates == ["rt"])
        let other = try builder.parameters(resource: resource, authority: "\(host)/fabrikam.com")
        #expect(builder.decide(other, alice, force: true).needsInteraction)
    }

    @Test func needsInteractionForAnUnknownAccount() throws {
        let builder = CacheBuilder()
        #expect(try builder.decide(builder.parameters(), CacheBuilder.account("bob")).needsInteraction)
        #expect(try builder.decide(builder.parameters(), AccountReference(username: "bob@x.com")).needsInteraction)
        #expect(try builder.decide(builder.parameters(), AccountReference()).needsInteraction)
    }

    @Test func neverReturnsAnotherAccountsToken() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("bob", builder.parameters())
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("bob"))
        #expect(decision.token == "at-bob-User.Read")
    }

    @Test func findsAnAccountByItsNameInAnyCase() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let byName = AccountReference(username: "ALICE@Contoso.COM")
        #expect(try builder.decide(builder.parameters(), byName).token != nil)
    }

    @Test func letsADALUseTheOnlyAccountAndRefusesToGuessAmongSeveral() throws {
        var builder = CacheBuilder()
        let adal = try builder.parameters(resource: "https://graph.microsoft.com")
        try builder.signIn("alice", adal)
        #expect(builder.decide(adal, AccountReference()).token != nil)
        try builder.signIn("bob", adal)
        #expect(builder.decide(adal, AccountReference()) == .ambiguousAccount)
    }

    @Test func sharesRefreshTokensAndNotAccessTokensBetweenTheLibraries() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let adal = try builder.parameters(resource: "https://graph.microsoft.com")
        let found = builder.decide(adal, AccountReference(username: "alice@contoso.com"))
        #expect(found.candidates == ["rt-alice-app-1"])
    }

    /// Around each time at which something about the token changes.
    @Test(arguments: [0, 1, 300, 3600, 4000], [nil, 1000, 3599] as [Int64?])
    func tellsTheTimesOfTheSameDecision(buffer: Int64, refreshIn: Int64?) throws {
        var builder = CacheBuilder()
        let start = builder.now
        try builder.signIn("alice", builder.parameters(), expiresIn: 3600, refreshIn: refreshIn)
        func decision(at time: Int64) throws -> SilentDecision {
            builder.now = time
            return builder.decide(try builder.parameters(), CacheBuilder.account("alice"), buffer: buffer)
        }
        func result(at time: Int64) throws -> TokenResult? {
            guard case .use(var result, _) = try decision(at: time) else { return nil }
            result.correlationID = .fixed
            return result
        }
        let bounds = [0, 1000, 3600 - buffer, 3599, 3600].map { start + $0 }
        for time in bounds.flatMap({ bound in (-2...2).map { bound + $0 } }) {
            guard case .use(_, let times?) = try decision(at: time) else { continue }
            #expect(times.contains(time))
            for other in [times.lowerBound, times.upperBound] { #expect(try result(at: other) == result(at: time)) }
            #expect(try result(at: times.lowerBound - 1) != result(at: time))
        }
        // A token that is not about to expire has such times.
        guard buffer < 3600 else { return }
        guard case .use(_, let times?) = try decision(at: start) else {
            Issue.record("no times")
            return
        }
        #expect(times == start...min(start + 3600 - max(buffer, 1), refreshIn.map { start + $0 } ?? .max))
    }

    @Test func keepsSharingGroupsApart() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let elsewhere = try builder.parameters(group: #require(SharingGroup("other")))
        #expect(builder.decide(elsewhere, CacheBuilder.account("alice")).needsInteraction)
    }

    @Test func findsTokensUnderEveryNameOfACloudAndNotUnderAnother() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let account = CacheBuilder.account("alice")
        let alias = try builder.parameters(authority: "https://login.windows.net/common")
        #expect(builder.decide(alias, account).token != nil)
        let china = try builder.parameters(authority: "https://login.chinacloudapi.cn/common")
        #expect(builder.decide(china, account).needsInteraction)
    }

    /// One account may be in several clouds; an app finds it again by the host that the result names.
    @Test func namesTheAccountOfTheTokensCloud() throws {
        var builder = CacheBuilder()
        let account = CacheBuilder.account("alice")
        let government = try builder.parameters(
            scopes: ["Mail.Read"], authority: "https://login.microsoftonline.us/common")
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("alice", government)
        for (parameters, host) in [
            (try builder.parameters(), "login.windows.net"), (government, "login.microsoftonline.us"),
        ] {
            guard case .use(let result, _) = builder.decide(parameters, account) else {
                Issue.record("expected a hit at \(host)")
                continue
            }
            #expect(result.account.environment == host)
        }
    }

    @Test func keepsATokenOfAGuestTenantApartFromTheHomeTenants() throws {
        var builder = CacheBuilder()
        let guest = "9e570000-0000-4000-8000-000000000002"
        try builder.signIn("alice", builder.parameters())
        let there = try builder.parameters(authority: "https://login.microsoftonline.com/\(guest)")
        #expect(builder.decide(there, CacheBuilder.account("alice")).candidates != nil)
        try builder.signIn("alice", there, tenant: guest, homeTenant: CacheBuilder.tenant)
        guard case .use(let result, _) = builder.decide(there, CacheBuilder.account("alice")) else {
            Issue.record("expected a token")
            return
        }
        #expect(result.tenantProfile?.realm == guest)
        #expect(result.tenantProfile?.isHome == false)
        #expect(result.account.homeIDToken == nil)
    }

    @Test func findsATokenByTheDomainNameThatWasRequested() throws {
        var builder = CacheBuilder()
        let domain = try builder.parameters(authority: "https://login.microsoftonline.com/contoso.com")
        try builder.signIn("alice", domain)
        #expect(builder.decide(domain, CacheBuilder.account("alice")).token != nil)
    }

    // Mirrors: S4 MSIDDefaultSilentTokenRequestTests
    //   testAcquireTokenSilent_whenAccessToken_butNoIDToken_shouldRefreshToken, and S5 …_andServerUnavailable_shouldFail
    @Test func doesNotReturnATokenWithoutItsIDTokenNotEvenInAnOutage() throws {
        var builder = CacheBuilder()
        let signedIn = try builder.signIn("alice", builder.parameters())
        let account = AccountKey(issuer: .microsoft, homeAccountID: signedIn.account.homeAccountID, username: nil)
        let keys = builder.cache.partition(.standard)[account].idTokens.keys
        builder.cache.apply(
            keys.map {
                .remove(RecordKey(group: SharingGroup.standard.name, kind: .idToken, key: $0), account: account)
            },
            in: .standard)
        guard case .redeem(let plan) = try builder.decide(builder.parameters(), CacheBuilder.account("alice")) else {
            Issue.record("the token was not renewed")
            return
        }
        #expect(plan.candidates.map { $0.secret.reveal() } == ["rt-alice-app-1"])
        #expect(plan.fallback == nil)
    }
}

extension CorrelationID {
    fileprivate static let fixed = CorrelationID()
}

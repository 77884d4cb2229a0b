internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// Accounts of different identity providers: none can name, or reach, an account of another.
@Suite(.bounded) struct IssuerTests {
    private static let victim = CacheBuilder.account("alice")
    private static let evil = "https://id.evil.example/~mallory"

    /// An OpenID provider, and an Entra authority whose validation the app has disabled.
    @Test(arguments: [(evil, Authority.Kind.openID), ("https://login.evil.example/t", .entra)])
    func keepsAnAccountApartThatAnotherProviderNamesAlike(url: String, kind: Authority.Kind) throws {
        var builder = CacheBuilder()
        let entra = try builder.parameters()
        try builder.signIn("alice", entra)
        let hostile = try CacheBuilder.parameters(url, kind)
        try builder.save(Self.hostileTokens, from: .signIn, hostile)
        #expect(builder.decide(entra, Self.victim).token == "at-alice-User.Read")
        #expect(builder.decide(entra, AccountReference(username: "alice@contoso.com")).token == "at-alice-User.Read")
        #expect(builder.decide(entra, AccountReference()).token == "at-alice-User.Read")
        #expect(builder.decide(hostile, Self.victim).token == "at-evil")
        #expect(builder.decide(hostile, AccountReference(username: "alice@contoso.com")).token == "at-evil")
        #expect(builder.decide(hostile, AccountReference()).token == "at-evil")
        let accounts = try builder.cache.listedAccounts(ListAccounts(clientID: CacheBuilder.app))
        #expect(Set(accounts.map(\.environment)).count == 2)
        #expect(accounts.allSatisfy { $0.homeAccountID == Self.victim.homeAccountID })
    }

    /// Other paths of an organisation's domain may be another tenant's, another policy's, or anybody's.
    @Test(
        arguments: [
            ("contoso.onmicrosoft.com/b2c_1_in", .b2c, "fabrikam.onmicrosoft.com/b2c_1_in", .b2c),
            ("contoso.onmicrosoft.com/b2c_1_in", .b2c, "contoso.onmicrosoft.com/b2c_1_edit", .b2c),
            ("tfp/contoso.onmicrosoft.com/b2c_1_in", .b2c, "~mallory/b2c_1_in", .b2c),
            ("contoso.onmicrosoft.com", .ciam, "fabrikam.onmicrosoft.com", .ciam),
            ("contoso.onmicrosoft.com", .ciam, "\(CacheBuilder.tenant)", .ciam), ("", .ciam, "~mallory", .ciam),
            ("contoso.onmicrosoft.com/b2c_1_in", .b2c, "~mallory", .entra),
            ("contoso.onmicrosoft.com/b2c_1_in", .b2c, "~mallory", .openID), ("", .ciam, "", .openID),
        ] as [(String, Authority.Kind, String, Authority.Kind)])
    func keepsAccountsOfACustomDomainApart(
        path: String, kind: Authority.Kind, other: String, otherKind: Authority.Kind
    ) throws {
        let own = try CacheBuilder.parameters("https://login.contoso.com/\(path)", kind)
        let hostile = try CacheBuilder.parameters("https://login.contoso.com/\(other)", otherKind)
        let references = [Self.victim, AccountReference(username: "alice@contoso.com"), AccountReference()]
        // The order of the two sign-ins does not matter.
        for isFirst in [true, false] {
            var builder = CacheBuilder()
            if isFirst { try builder.signIn("alice", own) }
            try builder.save(Self.hostileTokens, from: .signIn, hostile)
            for reference in references where !isFirst { #expect(builder.decide(own, reference).needsInteraction) }
            if !isFirst { try builder.signIn("alice", own) }
            for reference in references {
                #expect(builder.decide(own, reference).token == "at-alice-User.Read")
                #expect(builder.decide(own, reference, force: true).candidates == ["rt-alice-app-1"])
                #expect(builder.decide(hostile, reference).token == "at-evil")
                #expect(builder.decide(hostile, reference, force: true).candidates == ["rt-evil"])
            }
        }
    }

    /// Names of the path in another case are one authority: neither tenants nor policies differ by case.
    @Test func findsAnAccountOfACustomDomainByItsPathInAnyCase() throws {
        var builder = CacheBuilder()
        let url = "https://login.contoso.com/contoso.onmicrosoft.com/B2C_1_In"
        let account = try builder.signIn("alice", CacheBuilder.parameters(url, .b2c)).account.reference
        let other = try CacheBuilder.parameters(url.lowercased(), .b2c)
        #expect(builder.decide(other, account).token == "at-alice-User.Read")
    }

    /// The result names the authority of the request, by which the account is found, and not the tenant that the response names.
    @Test(
        arguments: [
            ("contoso.onmicrosoft.com/b2c_1_in", .b2c), ("tfp/contoso.onmicrosoft.com/b2c_1_in", .b2c),
            ("contoso.onmicrosoft.com", .ciam), ("", .ciam),
        ] as [(String, Authority.Kind)])
    func namesTheAuthorityOfTheRequestAtACustomDomain(path: String, kind: Authority.Kind) throws {
        var builder = CacheBuilder()
        let parameters = try CacheBuilder.parameters("https://login.contoso.com/\(path)", kind)
        let first = try builder.signIn("alice", parameters)
        #expect(first.authority == parameters.authority.url)
        guard case .use(let cached, _) = builder.decide(parameters, first.account.reference) else {
            Issue.record("no token in the cache")
            return
        }
        #expect(cached.authority == first.authority)
        guard case .redeem(let plan) = builder.decide(parameters, first.account.reference, force: true) else {
            Issue.record("no refresh token")
            return
        }
        #expect(plan.authority == parameters.authority)
    }

    /// Earlier versions kept the accounts of a custom domain under its host.
    @Test(
        arguments: [
            (["contoso.onmicrosoft.com"], "contoso.onmicrosoft.com", true),
            (["contoso.onmicrosoft.com"], "Contoso.onmicrosoft.com", true),
            (["contoso.onmicrosoft.com"], "~mallory", false), (["contoso.onmicrosoft.com"], "", false),
            (["contoso.onmicrosoft.com", "~mallory"], "contoso.onmicrosoft.com", false),
            (["contoso.onmicrosoft.com", "~mallory"], "~mallory", false), ([], "contoso.onmicrosoft.com", false),
        ])
    func findsAnAccountOfAnEarlierVersionAtItsOnlyAuthority(used: [String], path: String, isFound: Bool) throws {
        var builder = CacheBuilder()
        let domain = "https://login.contoso.com"
        let parameters = try CacheBuilder.parameters("\(domain)/\(path)", .ciam)
        try builder.signIn("alice", CacheBuilder.parameters("\(domain)/contoso.onmicrosoft.com", .ciam))
        let earlier = try AccountKey(
            issuer: Issuer("login.contoso.com"), identity: .home(#require(Self.victim.homeAccountID)))
        var cache = CredentialCache()
        for record in builder.cache.partition(.standard).records {
            var record = record.assigned(to: earlier)
            if case .accountMetadata(var metadata) = record {
                let tenant = "\(domain)/\(CacheBuilder.tenant)"
                metadata.authorityMap = Dictionary(uniqueKeysWithValues: used.map { ("\(domain)/\($0)", tenant) })
                record = .accountMetadata(metadata)
            }
            cache.load(record, in: .standard)
        }
        builder.cache = cache
        for reference in [Self.victim, AccountReference(username: "alice@contoso.com"), AccountReference()] {
            let token = builder.decide(parameters, reference).token
            #expect(token == (isFound ? "at-alice-User.Read" : nil))
            let candidates = builder.decide(parameters, reference, force: true).candidates
            #expect(candidates == (isFound ? ["rt-alice-app-1"] : nil))
        }
        // A sign-in continues the account if it is certain whose it is, and has one of its own otherwise.
        try builder.signIn("alice", parameters, refreshToken: "rt-new")
        #expect(builder.decide(parameters, Self.victim, force: true).candidates == ["rt-new"])
        #expect(builder.cache.partition(.standard).accountKeys.count == (isFound ? 1 : 2))
    }

    @Test(arguments: ["https://contoso.b2clogin.com/t/p", "https://login.microsoftonline.com/tfp/t/p"])
    func keepsTheKeysOfAccountsAtMicrosoftsHostsOfB2C(url: String) throws {
        let authority = try Authority(url, kind: .b2c)
        let issuer = CloudDirectory().issuer(of: authority)
        #expect(issuer == (authority.environment.hasPrefix("login") ? .microsoft : Issuer("contoso.b2clogin.com")))
    }

    @Test func ignoresClientInfoOfAnOpenIDProvider() throws {
        var builder = CacheBuilder()
        var tokens = Self.hostileTokens
        tokens.idToken = CacheBuilder.idToken(["sub": "mallory", "preferred_username": "mallory"])
        tokens.homeAccountID = Self.victim.homeAccountID
        let result = try builder.save(tokens, from: .signIn, CacheBuilder.parameters(Self.evil, .openID))
        #expect(result.account.homeAccountID == HomeAccountID("mallory"))
    }

    @Test func removesTheAccountOfTheNamedEnvironmentOnly() throws {
        for environment in ["id.evil.example", "login.microsoftonline.com", nil] {
            var builder = CacheBuilder()
            let (entra, hostile) = (try builder.parameters(), try CacheBuilder.parameters(Self.evil, .openID))
            try builder.signIn("alice", entra)
            try builder.save(Self.hostileTokens, from: .signIn, hostile)
            builder.remove(
                RemoveAccount(
                    clientID: entra.clientID, account: Self.victim, extent: .account, environment: environment))
            #expect((builder.decide(entra, Self.victim).token == nil) == (environment != "id.evil.example"))
            #expect((builder.decide(hostile, Self.victim).token == nil) == (environment != "login.microsoftonline.com"))
        }
    }

    @Test func keepsNothingOfAnAccountThatIsGone() throws {
        var partition = Partition()
        let record = AccountRecord(
            homeAccountID: "mallory", environment: "id.evil.example", realm: "/", localAccountID: nil, username: "m",
            authorityType: "Generic", source: "adal")
        let account = record.account
        partition.save(.account(record))
        #expect(partition.accounts(named: "m") == [account])
        partition.remove(CacheRecord.account(record).key(in: .standard), account: account)
        #expect(partition == Partition())
    }

    /// A record may take the place of one under another name of the cloud, which is removed.
    @Test func findsAnAccountByItsNameWhileARecordHasTheName() {
        var partition = Partition()
        let records = ["login.windows.net", "login.microsoftonline.com"].map { host in
            AccountRecord(
                homeAccountID: "oid.tid", environment: host, realm: "tid", localAccountID: nil, username: "m",
                authorityType: AccountRecord.entraType, source: "msal")
        }
        for record in records { partition.save(.account(record)) }
        partition.remove(CacheRecord.account(records[1]).key(in: .standard), account: records[1].account)
        #expect(partition.accounts(named: "m") == [records[0].account])
    }

    @Test func isAmbiguousIfAppsCanUseTwoAccountsWithOneUsername() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters()
        let name = AccountReference(username: "alice@contoso.com")
        try builder.signIn("alice", parameters)
        #expect(builder.decide(parameters, name).token != nil)
        // The same username in another tenant, of another person.
        var tokens = IssuedTokens(accessToken: Secret("at-other"), refreshToken: Secret("rt-other"))
        tokens.idToken = CacheBuilder.idToken(["oid": "2", "tid": "t2", "preferred_username": "alice@contoso.com"])
        tokens.homeAccountID = HomeAccountID("2.t2")
        try builder.save(tokens, from: .signIn, parameters)
        guard case .ambiguousAccount = builder.decide(parameters, name) else {
            Issue.record("one of two people was chosen")
            return
        }
        // A sign-out of one of them makes the name clear again.
        builder.remove(
            RemoveAccount(
                clientID: parameters.clientID, account: AccountReference(homeAccountID: HomeAccountID("2.t2"))))
        #expect(builder.decide(parameters, name).token == "at-alice-User.Read")
    }

    @Test func keepsTheKeysOfMicrosoftsAccounts() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        let account = AccountKey(issuer: .microsoft, homeAccountID: Self.victim.homeAccountID, username: nil)
        #expect(account.key == "oid-alice.\(CacheBuilder.tenant)")
        let keys = builder.cache.partition(.standard)[account].records.map { $0.key(in: .standard).key }
        #expect(!keys.isEmpty && keys.allSatisfy { $0.hasPrefix("\(account.key)-") })
    }

    @Test func givesIssuersThatDifferInCaseDifferentKeys() {
        let identity = AccountKey.Identity.home(HomeAccountID.sample)
        let keys = ["id.example/Main", "id.example/main", "id.example/MAIN", "id.example"].map {
            AccountKey(issuer: Issuer($0), identity: identity).key.lowercased()
        }
        #expect(Set(keys).count == keys.count)
    }

    @Test(arguments: ["name:bob@contoso.com", "@id.example oid"])
    func refusesAnIdentifierThatCouldBeTakenForAnotherKey(identifier: String) throws {
        var builder = CacheBuilder()
        var tokens = Self.hostileTokens
        tokens.homeAccountID = HomeAccountID(identifier)
        let error = #expect(throws: TokenError.self) {
            try builder.save(tokens, from: .signIn, builder.parameters())
        }
        #expect(error?.code == .serverInvalidResponse)
    }

    /// Tokens of a provider that claims to have signed in the victim.
    private static let hostileTokens = IssuedTokens(
        accessToken: Secret("at-evil"), refreshToken: Secret("rt-evil"),
        idToken: CacheBuilder.idToken([
            "sub": victim.homeAccountID?.text ?? "", "oid": "oid-alice", "tid": CacheBuilder.tenant,
            "preferred_username": "alice@contoso.com",
        ]), homeAccountID: victim.homeAccountID, clientInfo: "e30")
}

extension HomeAccountID {
    fileprivate static let sample: HomeAccountID = {
        guard let sample = HomeAccountID("oid.tid") else { preconditionFailure("it is not blank") }
        return sample
    }()
}

internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The validation of authorities, and the results that are cached.
@Suite(.bounded) struct AuthorityResolverTests {
    private let parts = Parts()

    @Test func needsNoNetworkForABuiltInHost() async throws {
        let resolved = try await parts.resolve("https://login.windows.net/common").value()
        #expect(resolved.url == "https://login.microsoftonline.com/common")
        #expect(parts.provider.discoveries.count == 0)
    }

    @Test func sharesOneDiscoveryAmongConcurrentRequests() async throws {
        let first = try await parts.resolve("https://login.example.com/common")
        let second = try await parts.resolve("https://login.example.com/tenant")
        let discovery = await parts.provider.discoveries.next()
        try await parts.settle()
        #expect(parts.provider.discoveries.count == 0)
        discovery.answer([.sample])
        #expect(try await first.value().url == "https://sts.example.com/common")
        #expect(try await second.value().url == "https://sts.example.com/tenant")
        #expect(try await parts.resolve("https://login.example.com/common").value().environment == "sts.example.com")
        #expect(parts.provider.discoveries.count == 0)
    }

    /// A provider says nothing about the accounts of another one, also if the app lets users of several clouds sign in.
    @Test(arguments: [
        ("https://login.microsoftonline.com/common", "microsoftonline.us", "login.microsoftonline.us"),
        ("https://evil.example/common", "microsoftonline.com", "evil.example"),
        ("http://127.0.0.1:8080/common", "login.microsoftonline.com", "127.0.0.1:8080"),
        ("https://login.windows.net/common", "microsoftonline.com", "login.windows.net"),
    ])
    func movesAnAuthorityAmongMicrosoftsCloudsOnly(url: String, name: String, host: String) async throws {
        var parameters = TokenParameters.sample(authority: try Authority(url))
        parameters.extraParameters["instance_aware"] = "true"
        #expect(await parts.authority(parameters, movedTo: name).environment == host)
    }

    /// Hosts have no capitals in the cache.
    @Test func movesAnAuthorityByANameInAnyCase() async throws {
        var parameters = TokenParameters.sample()
        parameters.extraParameters["instance_aware"] = "True"
        for name in ["Login.MicrosoftOnline.US", "MICROSOFTONLINE.us"] {
            let moved = await parts.authority(parameters, movedTo: name)
            #expect(moved.url == "https://login.microsoftonline.us/common", "\(name)")
        }
    }

    /// Nothing says whose a domain is. An app names it as known, or has validation off.
    @Test(arguments: [
        ("https://login.contoso.com/tfp/t/b2c_1_in", true, true), ("https://t.b2clogin.com/tfp/t/b2c_1_in", true, true),
        ("https://login.contoso.com/tfp/t/b2c_1_in", false, false),
        ("https://login.microsoftonline.com/tfp/t/b2c_1_in", true, false),
        ("https://localhost:8443/tfp/t/b2c_1_in", true, false),
    ])
    func validatesNoB2CPolicyAtAnotherHost(url: String, validates: Bool, isRefused: Bool) async throws {
        let refusal = try await parts.refusal(url, validates: validates)
        #expect(refusal?.code == (isRefused ? .unsupportedFunctionality : nil))
    }

    /// Neither could be stored, nor be named in a reply.
    @Test func refusesAppsAndAuthoritiesWithNamesThatAreTooLong() async throws {
        let long = String(repeating: "x", count: 1025)
        for (app, url, isRefused) in [
            ("app", "https://login.microsoftonline.com/\(long.dropLast())", false),
            ("app", "https://login.microsoftonline.com/\(long)", true),
            (long, "https://login.microsoftonline.com/common", true),
            ("app", "https://login.contoso.com/tfp/t/\(long)\(long)", true),
        ] {
            var parameters = TokenParameters.sample(authority: try Authority(url))
            parameters.clientID = try #require(ClientID(app))
            let refusal = await parts.refusal(of: parameters)
            #expect(refusal?.code == (isRefused ? TokenError.Code.invalidDeveloperParameter : nil), "\(app) \(url)")
        }
    }

    @Test func storesLearntClouds() async throws {
        let resolving = try await parts.resolve("https://login.example.com/common")
        await parts.provider.discoveries.next().answer([.sample])
        try await resolving.value()
        #expect(parts.store.clouds == 1)
    }

    @Test func resolvesEvenIfLearntCloudsCannotBeStored() async throws {
        parts.store.fail()
        let resolving = try await parts.resolve("https://login.example.com/common")
        await parts.provider.discoveries.next().answer([.sample])
        try await resolving.value()
        #expect(await parts.hasUnsavedChanges)
    }

    @Test func cachesAnUnknownHostForAnHour() async throws {
        let resolving = try await parts.resolve("https://login.example.com/common")
        await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
        #expect(try await resolving.error()?.code == .authorityValidation)
        #expect(try await parts.refusal("https://login.example.com/common")?.code == .authorityValidation)
        parts.clock.advance(by: 3599)
        #expect(try await parts.refusal("https://login.example.com/common")?.code == .authorityValidation)
        parts.clock.advance(by: 1)
        #expect(try await parts.refusal("https://login.example.com/common") == nil)
    }

    /// Apps can name any number of hosts. Beyond the limit, all are forgotten.
    @Test func remembers256UnknownHosts() async throws {
        for number in 0...256 {
            let resolving = try await parts.resolve("https://login-\(number).example.com/common")
            await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
            #expect(try await resolving.error()?.code == .authorityValidation)
        }
        #expect(try await parts.refusal("https://login-0.example.com/common") == nil)
        #expect(try await parts.refusal("https://login-256.example.com/common")?.code == .authorityValidation)
    }

    private static let placesOfClaims: [(isParameter: Bool, capabilities: [String])] = [
        (false, []), (false, ["cp1"]), (true, []), (true, ["cp1"]),
    ]

    /// A provider would refuse them, and the user would be asked to sign in. The base64 is that of `{}`.
    @Test func refusesClaimsThatAreNoJSONObject() async throws {
        for (claims, isRefused) in [("{", true), ("[]", true), ("e30=", true), ("{}", false), ("", false)] {
            for (isParameter, capabilities) in Self.placesOfClaims {
                var parameters = TokenParameters.sample()
                if isParameter { parameters.extraParameters["claims"] = claims } else { parameters.claims = claims }
                parameters.capabilities = capabilities
                let refusal = await parts.refusal(of: parameters)
                #expect(refusal?.code == (isRefused ? TokenError.Code.invalidDeveloperParameter : nil), "\(claims)")
            }
        }
    }

    @Test func doesNotCacheAnOutage() async throws {
        let resolving = try await parts.resolve("https://login.example.com/common")
        await parts.provider.discoveries.next().fail(TokenError(.networkUnavailable, "no route"))
        #expect(try await resolving.error()?.code == .networkUnavailable)
        #expect(try await parts.refusal("https://login.example.com/common") == nil)
        let again = try await parts.resolve("https://login.example.com/common")
        await parts.provider.discoveries.next().answer([.sample])
        try await again.value()
    }

    @Test func acceptsAnUnknownHostWithoutValidation() async throws {
        let resolving = try await parts.resolve("https://login.example.com/common", validates: false)
        await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
        #expect(try await resolving.value().environment == "login.example.com")
        #expect(try await parts.refusal("https://login.example.com/common", validates: false) == nil)
    }

    /// No cloud knows an emulator, which may say so itself.
    @Test func acceptsAnUnknownHostOfThisMachineAgainAndAgain() async throws {
        for _ in 0..<2 {
            let refusal = try await parts.refusal("https://localhost:8080/common")
            #expect(refusal == nil)
            let resolving = try await parts.resolve("https://localhost:8080/common")
            await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
            #expect(try await resolving.value().environment == "localhost:8080")
        }
    }

    @Test func refusesAMalformedDocumentEvenWithoutValidation() async throws {
        let resolving = try await parts.resolve("https://login.example.com/common", validates: false)
        await parts.provider.discoveries.next().fail(TokenError(.serverInvalidResponse, "no names"))
        #expect(try await resolving.error()?.code == .serverInvalidResponse)
    }

    @Test func validatesAnADFSWithTheDomainOfTheUserOnce() async throws {
        let first = try await parts.resolve("https://fs.contoso.com/adfs", username: "alice@Contoso.com")
        let federation = await parts.provider.federations.next()
        #expect(federation.question == "contoso.com")
        federation.answer(())
        try await first.value()
        try await parts.resolve("https://fs.contoso.com/adfs", username: "bob@contoso.com").value()
        #expect(parts.provider.federations.count == 0)
    }

    /// An AD FS may call the user otherwise than its apps of ADAL do, by a name without a domain.
    @Test(arguments: [nil, "Alice@contoso.com", #"contoso\alice"#])
    func validatesAnADFSWithTheNameOfTheAccountThatHasADomain(name: String?) async throws {
        let claims = #"{"sub":"alice","upn":"alice@contoso.com","preferred_username":"CONTOSO\\alice"}"#
        try await expectValidation(at: "contoso.com", of: AccountReference(username: name), claims)
    }

    /// An app may name any domain, which can vouch for any host.
    @Test func validatesAnADFSWithNoNameThatIsNotTheAccounts() async throws {
        let account = AccountReference(homeAccountID: .sample("alice"), username: "alice@attacker.example")
        try await expectValidation(at: "contoso.com", of: account, #"{"sub":"alice","upn":"alice@contoso.com"}"#)
    }

    /// Has the AD FS of a saved account validated for a renewal, and expects which domain is asked.
    ///
    /// - Parameter claims: those of the account's ID token.
    private func expectValidation(at domain: String, of account: AccountReference, _ claims: String) async throws {
        let parameters = TokenParameters.sample(
            ["https://r/.default"], authority: try Authority("https://fs.contoso.com/adfs"), version: .v1)
        var tokens = IssuedTokens.sample("alice", "1")
        tokens.idToken = "e30.\(Base64URL.encode(Data(claims.utf8)))."
        try await parts.save(tokens, parameters).value()
        let request = await parts.acquire(
            AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true))
        try await parts.settle()
        try #require(parts.provider.federations.count == 1)
        let federation = await parts.provider.federations.next()
        #expect(federation.question == domain)
        federation.fail(TokenError(.authorityValidation, "another host"))
        #expect(try await request.error()?.code == .authorityValidation)
    }

    /// The domain of another user's choice can vouch for any host.
    @Test func validatesAnADFSForEachDomainByItself() async throws {
        let first = try await parts.resolve("https://fs.contoso.com/adfs", username: "x@attacker.example")
        await parts.provider.federations.next().answer(())
        try await first.value()
        let second = try await parts.resolve("https://fs.contoso.com/adfs", username: "alice@contoso.com")
        let federation = await parts.provider.federations.next()
        #expect(federation.question == "contoso.com")
        federation.fail(TokenError(.authorityValidation, "another host"))
        #expect(try await second.error()?.code == .authorityValidation)
    }

    /// A domain vouches for one of its farms, and not for any host that an app names beside it. A validation that fails is not kept.
    @Test func validatesEachADFSOfADomainByItself() async throws {
        let first = try await parts.resolve("https://fs.contoso.com/adfs", username: "alice@contoso.com")
        await parts.provider.federations.next().answer(())
        try await first.value()
        for _ in 1...2 {
            let other = try await parts.resolve("https://fs.attacker.example/adfs", username: "alice@contoso.com")
            try await parts.settle()
            try #require(parts.provider.federations.count == 1)
            await parts.provider.federations.next().fail(TokenError(.authorityValidation, "another host"))
            #expect(try await other.error()?.code == .authorityValidation)
        }
    }

    /// The domain may have been named by another app.
    @Test func takesNoDomainsValidationForARequestWithoutAUser() async throws {
        let first = try await parts.resolve("https://fs.contoso.com/adfs", username: "x@attacker.example")
        await parts.provider.federations.next().answer(())
        try await first.value()
        for username in [nil, "alice"] {
            let error = try await parts.resolve("https://fs.contoso.com/adfs", username: username).error()
            #expect(error?.code == .invalidDeveloperParameter)
        }
        #expect(parts.provider.federations.count == 0)
    }

    /// As with unknown hosts.
    @Test func remembers256ValidatedFarms() async throws {
        let username = "alice@contoso.com"
        for number in 0...256 {
            let resolving = try await parts.resolve("https://fs-\(number).contoso.com/adfs", username: username)
            await parts.provider.federations.next().answer(())
            try await resolving.value()
        }
        try await parts.resolve("https://fs-256.contoso.com/adfs", username: username).value()
        let again = try await parts.resolve("https://fs-0.contoso.com/adfs", username: username)
        try await parts.settle()
        try #require(parts.provider.federations.count == 1)
        await parts.provider.federations.next().answer(())
        try await again.value()
    }

    /// A user principal name has one domain.
    @Test func takesNoDomainOfANameWithSeveral() async throws {
        let resolving = try await parts.resolve(
            "https://fs.contoso.com/adfs", username: "alice@attacker.example@contoso.com")
        try await parts.settle()
        try #require(parts.provider.federations.count == 0)
        #expect(try await resolving.error()?.code == .invalidDeveloperParameter)
    }

    @Test func doesNotValidateAnADFSWithoutAUser() async throws {
        let error = try await parts.resolve("https://fs.contoso.com/adfs", username: nil).error()
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(parts.provider.federations.count == 0)
    }

    @Test func refusesPlainHTTPUnlessItIsAllowed() async throws {
        #expect(try await parts.refusal("http://localhost:8080/common")?.code == .invalidDeveloperParameter)
    }

    @Test func sendsARefreshTokenToTheHostsOfItsOwnCloudOnly() async throws {
        let hosts = try await parts.hostsOfARequest(at: "https://login.microsoftonline.com/common")
        #expect(hosts?.contains("login.windows.net") == true)
        #expect(hosts?.contains("login.microsoftonline.us") == false)
        #expect(try await parts.hostsOfARequest(at: "https://fs.contoso.com/adfs") == ["fs.contoso.com"])
    }
}

extension Parts {
    fileprivate func save(_ tokens: IssuedTokens, _ parameters: TokenParameters) -> Pending<TokenResult> {
        start { parts async throws(TokenError) in
            try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
    }

    fileprivate func resolve(
        _ url: String, validates: Bool = true, username: String? = nil
    ) throws -> Pending<Authority> {
        var parameters = TokenParameters.sample(authority: try Authority(url))
        parameters.validatesAuthority = validates
        return start { [parameters] parts async throws(TokenError) in
            try await parts.core.authorities.resolve(parameters.authority, parameters, username: username)
        }
    }

    fileprivate func refusal(_ url: String, validates: Bool = true) throws -> TokenError? {
        var parameters = TokenParameters.sample(authority: try Authority(url))
        parameters.validatesAuthority = validates
        return core.authorities.refusal(of: parameters)
    }

    fileprivate func refusal(of parameters: TokenParameters) -> TokenError? {
        core.authorities.refusal(of: parameters)
    }

    fileprivate func authority(_ parameters: TokenParameters, movedTo name: String) -> Authority {
        core.authorities.authority(parameters, movedTo: name)
    }

    fileprivate func hostsOfARequest(at url: String) throws -> Set<String>? {
        let parameters = TokenParameters.sample(authority: try Authority(url))
        return core.authorities.tokenRequest(.refreshToken(Secret("rt")), at: parameters.authority, parameters)
            .allowedEndpoints
    }
}

extension CloudDirectory.Cloud {
    fileprivate static let sample = CloudDirectory.Cloud(
        aliases: ["login.example.com", "sts.example.com"], preferredNetwork: "sts.example.com",
        preferredCache: "login.example.com")
}

internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ssoctl

/// The authorities and the tokens of accounts, as commands find them, without a process.
@Suite(.bounded) struct CommandValueTests {
    private static func account(
        at environment: String, home identifier: String = "object.tenant", _ profiles: [TenantProfile] = []
    ) -> Account {
        Account(
            homeAccountID: HomeAccountID(identifier), username: "alice@contoso.com", environment: environment,
            source: .msal, tenantProfiles: profiles)
    }

    private static func profile(_ realm: String, isHome: Bool) -> TenantProfile {
        TenantProfile(
            realm: realm, localAccountID: nil, username: nil, environment: "login.windows.net", isHome: isHome)
    }

    private static func credential(
        _ kind: Credential.Kind, of account: AccountReference, expiresOn: Int64? = nil
    ) throws -> Credential {
        Credential(
            id: "id", kind: kind, clientID: try #require(ClientID("app-1")),
            authority: "https://login.microsoftonline.com/common", expiresOn: expiresOn, account: account)
    }

    /// An older ADAL has left the work account, whose only name is that of the personal one. That one has an identifier to name it by.
    @Test func meansAWorkAccountThatOnlyItsNameIdentifies() throws {
        let identifier = "alice.\(HomeAccountID.personalTenantID)"
        let personal = Self.account(at: "login.windows.net", home: identifier)
        var work = personal
        work.homeAccountID = nil
        for name in ["alice@contoso.com", "Alice@Contoso", "ali"] {
            #expect(AccountName(name).matches(in: [personal, work]) == [work], "\(name)")
        }
        #expect(AccountName(identifier).matches(in: [work, personal]) == [personal])
        let other = Self.account(at: "login.windows.net")
        #expect(AccountName("alice@contoso.com").matches(in: [work, other]).count == 2)

        let token = try Self.credential(.refreshToken, of: work.reference)
        let tokens = AccountTokens([token])
        #expect(tokens.credentials(of: [personal]) == [])
        #expect(tokens.credentials(of: [personal, work]) == [token])
    }

    /// A silent request without an authority would be at another tenant, in which the account is a guest.
    @Test func takesTheAuthorityOfTheHomeTenant() {
        let profiles = [Self.profile("guest", isHome: false), Self.profile("home", isHome: true)]
        let authority = Authority(of: Self.account(at: "login.windows.net", profiles), localScheme: "https")
        #expect(authority?.url == "https://login.microsoftonline.com/home")
    }

    /// The realm says what the provider is, and an external tenant's host has no other one.
    @Test(arguments: [("contoso.ciamlogin.com", "tenant"), ("fs.contoso.com", "adfs")])
    func takesTheHostOfATenantOrAFarm(host: String, realm: String) {
        let authority = Authority(
            of: Self.account(at: host, [Self.profile(realm, isHome: true)]), localScheme: "https")
        #expect(authority?.url == "https://\(host)/\(realm)")
    }

    /// What is not known of another provider is not taken from Entra.
    @Test(arguments: ["id.example.com", "login.contoso.test"])
    func makesUpNoAuthorityOfAnotherProvider(environment: String) {
        #expect(Authority(of: Self.account(at: environment), localScheme: "https") == nil)
    }

    /// Without its host, the user would sign in at the public cloud.
    @Test func keepsTheHostOfTheAppBesideATenant() throws {
        let app = try Authority("https://login.microsoftonline.us/common")
        let authority = try ProviderChoice(tenant: TenantName("contoso.com")).authority(app: app)
        #expect(authority?.url == "https://login.microsoftonline.us/contoso.com")
    }

    @Test func countsNoTokenThatHasExpired() throws {
        let account = Self.account(at: "login.windows.net")
        let tokens = AccountTokens([try Self.credential(.accessToken, of: account.reference, expiresOn: 1000)])
        let before = tokens.summary(of: AccountJSON(account), among: [], [:], now: 999)
        #expect(before.state == .notRenewable)
        #expect(before.validUntil == 1000)
        let after = tokens.summary(of: AccountJSON(account), among: [], [:], now: 1000)
        #expect(after.state == .signedOut)
        #expect(after.validUntil == nil)
    }

    @Test func tellsTheEndOfTheTokenThatIsValidLongest() throws {
        let account = Self.account(at: "login.windows.net")
        let tokens = try ([1000, 3000, 2000] as [Int64]).map {
            try Self.credential(.accessToken, of: account.reference, expiresOn: $0)
        }
        #expect(AccountTokens(tokens).summary(of: AccountJSON(account), among: [], [:], now: 500).validUntil == 3000)
    }

    /// The day of another month is not today.
    @Test func namesTheDayOfAnotherMonth() throws {
        // Noon of 15 January in UTC.
        let now: Int64 = 1_768_478_400
        func end(_ seconds: Int64) throws -> String? {
            let account = Self.account(at: "login.windows.net").reference
            let token = try Self.credential(.accessToken, of: account, expiresOn: now + seconds)
            return CredentialJSON(token).row([:], now: now).last
        }
        let (today, next) = (try end(60), try end(31 * 86_400))
        #expect(today?.count == 5 && today?.contains(":") == true, "\(today ?? "")")
        #expect(next?.hasPrefix("2026-02-1") == true, "\(next ?? "")")
    }

    /// An older ADAL has saved a token under a name alone, which two accounts have.
    @Test func listsTheTokensOfANameOnce() throws {
        let name = AccountReference(username: "Alice@contoso.com")
        let tokens = AccountTokens([try Self.credential(.refreshToken, of: name)])
        let accounts = ["object.tenant", "other.tenant"].map { Self.account(at: "login.windows.net", home: $0) }
        #expect(tokens.credentials(of: accounts).count == 1)
    }

    /// The last character that was typed is a part of one of the name: a woman and a computer, a letter and its vowel sign. An accent may be
    /// typed as a character of its own.
    @Test(
        arguments: [
            ("\u{1F469}", "\u{1F469}\u{200D}\u{1F4BB}@contoso.com"), ("\u{915}", "\u{915}\u{941}\u{92E}@contoso.com"),
            ("e\u{301}", "\u{E9}mile@contoso.com"), ("AL", "alice@contoso.com"),
        ])
    func findsAnAccountByTheBeginningOfACharacter(typed: String, username: String) {
        var account = Self.account(at: "login.windows.net")
        account.username = username
        #expect(AccountName(typed).matches(in: [account]) == [account])
        #expect(AccountName(typed + "x").matches(in: [account]).isEmpty)
    }

    /// The shell would type a name that looks like an option as one.
    @Test func completesNoOptionThatAProviderHasNamed() {
        let words = ["--wipe@contoso.com", "-x", "a\nb", "", "alice", "alice", "b-c"]
        #expect(CompletionRun.words(words, for: nil) == ["alice", "b-c"])
    }

    /// Those of an AD FS may name no user, and an imported account may have no name.
    @Test func listsNoTokenWithoutAUserForAnAccountWithoutAName() throws {
        let tokens = AccountTokens([try Self.credential(.refreshToken, of: AccountReference())])
        var account = Self.account(at: "login.windows.net")
        account.username = nil
        #expect(tokens.credentials(of: [account]).isEmpty)
        #expect(tokens.summary(of: AccountJSON(account), among: [], [:], now: 0).state == .signedOut)
    }

    /// The second part of an encrypted token is a key, and not what the token says.
    @Test func decodesATokenOfThreePartsOnly() throws {
        let part = "eyJhIjoxfQ"
        #expect(throws: Never.self) { try TokenClaims.decode("\(part).\(part).s") }
        for count in [1, 2, 4, 5] {
            let token = Array(repeating: part, count: count).joined(separator: ".")
            let error = #expect(throws: TokenError.self) { try TokenClaims.decode(token) }
            #expect(error?.code == .unsupportedFunctionality)
        }
    }

    /// The list of several accounts would look complete.
    @Test func saysHowManyAccountsItDoesNotList() {
        let accounts = (1...25).map { Self.account(at: "login.windows.net", home: "object-\($0).tenant") }
        let few = CommandFailure.ambiguous("several", Array(accounts.prefix(20)), nextCommand: nil).text
        #expect(few.hasSuffix("object-20.tenant"), "\(few)")
        let many = CommandFailure.ambiguous("several", accounts, nextCommand: nil).text
        #expect(many.hasSuffix("object-20.tenant\n  … and 5 more"), "\(many)")
    }
}

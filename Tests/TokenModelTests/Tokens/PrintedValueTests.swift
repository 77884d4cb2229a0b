internal import TestSupport
internal import Testing
internal import TokenModel

/// What apps write to their logs when they print a value.
@Suite(.bounded) struct PrintedValueTests {
    private static let idToken = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."
    private static let profile = TenantProfile(
        realm: "contoso", localAccountID: "uid", username: "alice@contoso.com",
        environment: "login.microsoftonline.com", isHome: true, idToken: idToken)
    private static let account = Account(
        homeAccountID: nil, username: "alice@contoso.com", environment: "login.microsoftonline.com", source: .msal,
        tenantProfiles: [profile], homeIDToken: idToken)
    private static let result = TokenResult(
        accessToken: Secret("an access token"), tokenType: "Bearer", expiresOn: 1_800_000_000, scopes: ["User.Read"],
        idToken: idToken, account: account, tenantProfile: profile, authority: Authority.common.url,
        correlationID: CorrelationID(), isFromCache: true)

    /// The texts that Swift makes of a value.
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), dumped]
    }

    @Test func showsNoTokenOfAnAccount() {
        let reply = ListAccounts.Reply(accounts: [Self.account])
        for text in Self.texts(of: Self.account) + Self.texts(of: reply) {
            #expect(!text.contains("eyJ"))
            #expect(text.contains("alice@contoso.com") && text.contains("(hidden)"))
        }
    }

    @Test func showsNoTokenOfAResult() {
        var error = TokenError(.declinedScopes, "fewer scopes were granted")
        error.details.partialResult = Self.result
        for text in Self.texts(of: Self.result) + Self.texts(of: error.details) {
            #expect(!text.contains("eyJ") && !text.contains("an access token"))
            #expect(text.contains("User.Read") && text.contains("(hidden)"))
        }
    }

    @Test func showsNoTokenOfACredential() throws {
        let credential = Credential(
            id: "1", kind: .accessToken, clientID: try #require(ClientID("app-1")), authority: Authority.common.url,
            accessToken: Secret("an access token"), idToken: Self.idToken, account: Self.account.reference)
        for text in Self.texts(of: credential) {
            #expect(!text.contains("eyJ") && !text.contains("an access token"))
            #expect(text.contains("app-1") && text.contains("(hidden)"))
        }
    }

    @Test func saysThatThereIsNoIDToken() {
        var account = Self.account
        (account.tenantProfiles, account.homeIDToken) = ([], nil)
        #expect(String(describing: account).contains("homeIDToken: nil"))
    }
}

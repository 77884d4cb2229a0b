internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct TokenReplyTests {
    /// OpenID Connect Core section 3.1.2.1.
    @Test(arguments: [(query: "&max_age=60", hasTime: true), ("", false)])
    func namesTheTimeOfTheSignInThatMayNotBeOld(row: (query: String, hasTime: Bool)) async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let provider = "\(emulator.url)/openid/main"
            let page =
                "\(provider)/authorize?client_id=app&response_type=code&redirect_uri=http%3A%2F%2Flocalhost&scope=openid"
            let code = try await HTTP.get(page + row.query).redirect["code"] ?? ""
            let signedInOn = Int(clock.date.timeIntervalSince1970)
            clock.advance(by: 30)
            let reply = try await HTTP.post(
                "\(provider)/token",
                form: [
                    "grant_type": "authorization_code", "client_id": "app", "code": code,
                    "redirect_uri": "http://localhost",
                ])
            #expect(reply.claims("id_token")["auth_time"] == (row.hasTime ? .number(signedInOn) : nil))
        }
    }

    /// In a tenant of External ID, the account is one of the tenant.
    @Test(arguments: [
        (host: "contoso.ciamlogin.com", isExternal: true), ("Contoso.ciamlogin.com:8443", true),
        ("ciamlogin.com.example:8443", false),
    ])
    func knowsExternalIDByItsHost(row: (host: String, isExternal: Bool)) async throws {
        try await withEmulator { emulator in
            let (realm, username) = ("contoso.onmicrosoft.com", "alice@fabrikam.example")
            let app = App(emulator: emulator, authority: realm)
            let form = [
                "grant_type": "authorization_code", "client_id": app.clientID, "client_info": "1",
                "code": try await app.code(["login_hint": username]), "redirect_uri": app.redirectURI,
            ]
            let reply = try await HTTP.post(app.url("token"), form: form, headers: ["Host": row.host])
            let tenantID = emulator.control.tenantID(realm)
            let inTenant = User.clientInfo(
                uid: emulator.control.objectID(of: username, in: tenantID), utid: tenantID)
            let atHome = emulator.control.addUser(username).clientInfo
            #expect(reply.text("client_info") == (row.isExternal ? inTenant : atHome))
        }
    }

    /// RFC 6749 section 3.2.
    @Test(arguments: [
        (type: "application/x-www-form-urlencoded", isForm: true),
        ("Application/X-WWW-Form-URLEncoded ; charset=utf-8", true),
        ("application/json", false), ("text/plain", false), ("", false),
    ])
    func readsNoBodyButAForm(row: (type: String, isForm: Bool)) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let form = [
                "grant_type": "authorization_code", "code": try await app.code(), "redirect_uri": app.redirectURI,
                "client_id": app.clientID,
            ]
            let reply = try await HTTP.post(app.url("token"), form: form, headers: ["Content-Type": row.type])
            #expect(reply.status == (row.isForm ? 200 : 400))
            #expect(reply["error_codes"] == (row.isForm ? nil : [900144]))
        }
    }

    /// Servers log the query of a request.
    @Test(arguments: ["grant_type", "code", "client_id"])
    func readsNoParameterOfTheQuery(name: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            var form = [
                "grant_type": "authorization_code", "code": try await app.code(), "redirect_uri": app.redirectURI,
                "client_id": app.clientID,
            ]
            let query = Parameters([name: form.removeValue(forKey: name) ?? ""])
            let reply = try await HTTP.post("\(app.url("token"))?\(query.encoded)", form: form)
            #expect(reply["error_codes"] == [900144])
        }
    }

    @Test func answersV2WithNumbers() async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            emulator.control.settings.refreshIn = 1800
            let reply = try await App(emulator: emulator).signIn(["nonce": "n1"])
            #expect(reply["token_type"] == "Bearer")
            #expect(reply["expires_in"] == 3599)
            #expect(reply["ext_expires_in"] == 7199)
            #expect(reply["refresh_in"] == 1800)
            #expect(reply["scope"] == "openid profile User.Read")
            #expect(reply["foci"] == nil)
            let claims = reply.claims("id_token")
            let tenantID = emulator.control.tenantID("contoso.example")
            #expect(claims["ver"] == "2.0")
            #expect(claims["nonce"] == "n1")
            #expect(claims["aud"] == "11111111-2222-3333-4444-555555555555")
            #expect(claims["iss"] == .string("\(emulator.url)/\(tenantID)/v2.0"))
            #expect(claims["tid"] == .string(tenantID))
            #expect(claims["preferred_username"] == "user@contoso.example")
            #expect(claims["iat"] == 1_900_000_000)
            #expect(claims["exp"] == 1_900_003_599)
        }
    }

    /// RFC 6749 section 5.1.
    @Test(arguments: ["openid", "https://one.example/a https://two.example/b"])
    func forbidsToKeepTokensAndErrors(scope: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let reply = try await app.redeem(code: app.code(), ["scope": scope])
            #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
            #expect(reply.headers["cache-control"] == "no-store, no-cache")
            #expect(reply.headers["pragma"] == "no-cache")
        }
    }

    @Test func answersV1WithNumbersAsText() async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator, isV1: true)
            let reply = try await app.signIn()
            #expect(reply["expires_in"] == "3599")
            #expect(reply["expires_on"] == "1900003599")
            #expect(reply["not_before"] == "1900000000")
            #expect(reply["resource"] == "https://graph.example")
            let claims = reply.claims("id_token")
            #expect(claims["ver"] == "1.0")
            #expect(claims["upn"] == "user@contoso.example")
            #expect(claims["unique_name"] == "user@contoso.example")
            #expect(claims["preferred_username"] == nil)
            let other = try await app.redeem(
                refreshToken: reply.text("refresh_token"), ["resource": "https://vault.example"])
            #expect(other["resource"] == "https://vault.example")
        }
    }

    @Test func addsAndRemovesTheMembersOfTheSettings() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.tokenReply = ["expires_in": 7, "id_token": nil, "made_up": ["a": 1]]
            let reply = try await App(emulator: emulator, isV1: true).signIn()
            #expect(reply["expires_in"] == 7)
            #expect(reply["id_token"] == nil)
            #expect(reply["made_up"] == ["a": 1])
            #expect(reply["access_token"] != nil)
        }
    }

    @Test func replacesAndRemovesTheClaimsOfTheSettings() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            emulator.control.settings.idTokenClaims = [
                "aud": [.string(app.clientID), "other"], "sub": nil, "exp": "soon",
            ]
            let reply = try await app.signIn()
            let claims = reply.claims("id_token")
            #expect(claims["aud"] == [.string(app.clientID), "other"])
            #expect(claims["sub"] == nil)
            #expect(claims["exp"] == "soon")
            #expect(reply.claims("access_token")["sub"] != nil)
        }
    }

    @Test func givesGuestsNoPrincipalNameInV1() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: "fabrikam.example", isV1: true)
            let claims = try await app.signIn(["login_hint": "alice@contoso.example"]).claims("id_token")
            #expect(claims["upn"] == nil)
            #expect(claims["email"] == "alice@contoso.example")
        }
    }

    @Test(arguments: [("1", true), ("0", false)])
    func sendsClientInfoOnRequest(asked: String, isGiven: Bool) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let reply = try await app.redeem(code: app.code(), ["client_info": asked])
            #expect((reply["client_info"] != nil) == isGiven)
            guard isGiven else { return }
            let info = try JSONDecoder().decode(
                [String: String].self, from: decodeBase64URL(reply.text("client_info") ?? ""))
            let user = try #require(emulator.control.users.first)
            #expect(info == ["uid": user.objectID, "utid": user.homeTenantID])
        }
    }

    @Test func omitsTokensThatTheScopesDoNotRequest() async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).signIn(["scope": "User.Read"])
            #expect(reply["refresh_token"] == nil)
            #expect(reply["id_token"] == nil)
            #expect(reply["access_token"] != nil)
        }
    }

    @Test func declinesScopes() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.declinedScopes = ["mail.read"]
            let reply = try await App(emulator: emulator).signIn(["scope": "openid User.Read Mail.Read"])
            #expect(reply["scope"] == "openid User.Read")
        }
    }

    @Test func answersAsADFSWithoutClientInfo() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: "adfs", isV1: true)
            let reply = try await app.signIn()
            #expect(reply["expires_in"] == 3599)
            #expect(reply["client_info"] == nil)
            let claims = reply.claims("id_token")
            #expect(claims["iss"] == .string("\(emulator.url)/adfs"))
            let document = try await HTTP.get("\(emulator.url)/adfs/.well-known/openid-configuration")
            #expect(document["issuer"] == claims["iss"])
            #expect(document["access_token_issuer"] == reply.claims("access_token")["iss"])
            #expect(document.text("access_token_issuer")?.hasSuffix("/adfs/services/trust") == true)
            #expect(claims["upn"] == "user@contoso.example")
            #expect(claims["oid"] == nil)
        }
    }

    @Test(
        arguments: [
            ("openid https://api.example/.default", "openid"), ("https://api.example/.Default", nil),
            ("openid https://api.example/Write", "openid https://api.example/Write"),
        ] as [(String, String?)])
    func listsNoDefaultScopeAsADFS(scope: String, granted: String?) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: "adfs", isV1: true)
            let reply = try await app.redeem(code: app.code(), ["scope": scope])
            #expect(reply.text("scope") == granted)
            #expect(reply["access_token"] != nil)
        }
    }

    @Test(arguments: ["tfp/contoso.example/B2C_1_SignIn", "contoso.example/B2C_1_SignIn"])
    func givesEachB2CUserFlowAnAccountOfItsOwn(authority: String) async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: authority)
            let reply = try await app.signIn()
            let info = String(decoding: decodeBase64URL(reply.text("client_info") ?? ""), as: UTF8.self)
            #expect(info.contains("-b2c_1_signin"))
            #expect(reply.claims("id_token")["tfp"] == "B2C_1_SignIn")
        }
    }

    @Test func answersAsWindows2012R2WithoutOpenIDAndForOneResource() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.adfs.level = .windows2012R2
            let app = App(emulator: emulator, authority: "adfs", isV1: true)
            let reply = try await app.signIn()
            for field in ["id_token", "resource", "scope", "client_info"] { #expect(reply[field] == nil) }
            let document = try await HTTP.get("\(emulator.url)/adfs/.well-known/openid-configuration")
            #expect(document.status == 404)
            let token = reply.text("refresh_token")
            let other = try await app.redeem(refreshToken: token, ["resource": "https://other.example"])
            #expect(other["error"] == "invalid_grant")
            #expect(try await app.redeem(refreshToken: token).status == 200)
        }
    }

    @Test func issuesNoB2CAccessTokenWithoutAResource() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator, authority: "tfp/contoso.example/b2c_1_in")
            let bare = try await app.signIn(["scope": "openid offline_access"])
            #expect(bare["access_token"] == nil)
            #expect(bare["id_token"] != nil)
            let own = try await app.signIn(["scope": "openid offline_access \(app.clientID)"])
            #expect(own.claims("access_token")["aud"] == .string(app.clientID))
            var elsewhere = app
            elsewhere.authority = "tfp/contoso.example/b2c_1_edit"
            #expect(try await elsewhere.redeem(refreshToken: own.text("refresh_token"))["error"] == "invalid_grant")
        }
    }

    @Test func signsWithThePublishedKey() async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).signIn()
            let configuration = try await HTTP.get("\(emulator.url)/common/v2.0/.well-known/openid-configuration")
            let published = try await HTTP.get(configuration.text("jwks_uri") ?? "")
            for name in ["access_token", "id_token"] {
                let claims = try JWTVerifier.claims(of: reply.text(name) ?? "", keys: published.body)
                #expect(claims["sub"] == reply.claims(name)["sub"])
            }
        }
    }

    /// The claims that Entra adds for the scopes `profile` and `email`.
    @Test(
        arguments: [
            (scope: "openid", names: []), ("openid profile", ["name", "oid", "preferred_username"]),
            ("openid email", ["email"]),
        ] as [(scope: String, names: [String])])
    func describesTheUserOfEntraByTheScopes(row: (scope: String, names: [String])) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).signIn(["scope": row.scope])
            let claims = reply.claims("id_token")
            #expect(["email", "name", "oid", "preferred_username"].filter { claims[$0] != nil } == row.names)
            #expect(claims["sub"] != nil && claims["tid"] != nil)
            let bearer = ["authorization": "Bearer \(reply.text("access_token") ?? "")"]
            #expect(try await HTTP.get("\(emulator.url)/oidc/userinfo", headers: bearer)["email"] == claims["email"])
        }
    }

    /// The claims of the scopes `profile` and `email` (OpenID Connect Core section 5.4).
    @Test func describesTheUserOfAnOpenIDProvider() async throws {
        try await withEmulator { emulator in
            let provider = "\(emulator.url)/openid/main"
            let page = "\(provider)/authorize?client_id=app&response_type=code&redirect_uri=http%3A%2F%2Flocalhost"
            let hint = "&scope=openid%20profile%20email&login_hint=alice@contoso.example"
            let code = try await HTTP.get(page + hint).redirect["code"] ?? ""
            let reply = try await HTTP.post(
                "\(provider)/token",
                form: [
                    "grant_type": "authorization_code", "client_id": "app", "code": code,
                    "redirect_uri": "http://localhost",
                ])
            let bearer = ["authorization": "Bearer \(reply.text("access_token") ?? "")"]
            let user = try await HTTP.get("\(emulator.url)/oidc/userinfo", headers: bearer)
            let claims = reply.claims("id_token")
            for name in ["sub", "name", "preferred_username", "email"] {
                #expect(user[name] != nil && user[name] == claims[name], "\(name)")
            }
        }
    }

    @Test(arguments: [("Bearer", 200), ("bearer", 200), ("BEARER", 200), ("Basic", 401)])
    func acceptsAnAccessTokenWithItsScheme(scheme: String, status: Int) async throws {
        try await withEmulator { emulator in
            let token = try await App(emulator: emulator).signIn().text("access_token") ?? ""
            let reply = try await HTTP.get(
                "\(emulator.url)/oidc/userinfo", headers: ["authorization": "\(scheme) \(token)"])
            #expect(reply.status == status)
        }
    }

    @Test func acceptsAnAccessTokenUntilItExpiresOrIsRevoked() async throws {
        let clock = TestClock()
        try await withEmulator(EmulatorOptions(now: { clock.date })) { emulator in
            let app = App(emulator: emulator)
            func status(_ reply: Reply) async throws -> Int {
                let bearer = ["authorization": "Bearer \(reply.text("access_token") ?? "")"]
                return try await HTTP.get("\(emulator.url)/oidc/userinfo", headers: bearer).status
            }
            let first = try await app.signIn()
            #expect(try await status(first) == 200)
            clock.advance(by: 3599)
            #expect(try await status(first) == 401)
            let second = try await app.signIn()
            emulator.control.revokeTokens()
            #expect(try await status(second) == 401)
            emulator.control.settings.accessTokenLifetime = 0
            #expect(try await status(app.signIn()) == 401)
        }
    }

    @Test func refusesTheAccessTokensOfARevokedUserOnly() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            func status(_ reply: Reply) async throws -> Int {
                let bearer = ["authorization": "Bearer \(reply.text("access_token") ?? "")"]
                return try await HTTP.get("\(emulator.url)/oidc/userinfo", headers: bearer).status
            }
            let alice = try await app.signIn(["login_hint": "alice@contoso.example"])
            let bob = try await app.signIn(["login_hint": "bob@contoso.example"])
            emulator.control.revokeTokens(of: "alice@contoso.example")
            #expect(try await status(alice) == 401)
            #expect(try await status(bob) == 200)
        }
    }
}

internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// Granted and requested scopes in a result.
@Suite(.bounded) struct GrantedScopesTests {
    private static let alice = "alice@contoso.com"

    // Mirrors: A5 MSIDDefaultTokenResponseValidatorTests testValidateTokenResult_
    //   whenSomeScopesRejectedByServer_shouldReturnErrorWithGrantedScopesButWithoutDefaultOidcScopes
    @Test func reportsAndSavesTheScopesOfASignInThatGrantsFewer() async throws {
        try await AgentFixture.with(settings: .with { $0.declinedScopes = ["mail.read", "files.read"] }) { f in
            let app = try f.msalApp()
            let asked = ["User.Read", "Mail.Read", "Files.Read"]
            let error = try #require(await failure { try await app.signIn(Self.alice, scopes: asked) })
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == MSALError.serverDeclinedScopes.rawValue)
            #expect(error.userInfo[MSALGrantedScopesKey] as? [String] == ["User.Read"])
            #expect(error.userInfo[MSALDeclinedScopesKey] as? [String] == ["Mail.Read", "Files.Read"])
            let granted = try #require(error.userInfo[MSALInvalidResultKey] as? MSALResult)
            #expect(try await app.token(granted.account).accessToken == granted.accessToken)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: A5 MSIDDefaultTokenResponseValidatorTests
    //   testValidateTokenResult_whenEmailScopesNotIncludedByServer_shouldReturnValidResult
    @Test func doesNotRequireEmailAmongTheGrantedScopes() async throws {
        try await AgentFixture.with(settings: .with { $0.declinedScopes = ["email", "profile"] }) { f in
            let result = try await f.msalApp().signIn(Self.alice, scopes: ["User.Read", "email"])
            #expect(result.scopes == ["User.Read", "openid"])
        }
    }

    // Mirrors: A11 MSIDAADV2Oauth2FactoryTests
    //   testAccessTokenFromResponse_withAdditionFromRequest_whenOnlyDefaultScopeInRequest_shouldAddDefaultScope
    @Test func countsDefaultAsGranted() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["scope": "https://api.example/Read openid"] }) {
            f in
            let (app, scopes) = (try f.msalApp(), ["https://api.example/.default"])
            let result = try await app.signIn(Self.alice, scopes: scopes)
            #expect(result.scopes == ["https://api.example/Read", "openid", "https://api.example/.default"])
            #expect(try await app.token(result.account, scopes: scopes).accessToken == result.accessToken)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: M19 MSALResultTests testMSALResultWithTokenResult_
    //   whenTokenResultContainsInvalidIdToken_shouldReturnError_BearerFlow
    @Test(arguments: ["not a token", "a.b.c"])
    func failsIfTheIDTokenCannotBeRead(idToken: String) async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["id_token": .string(idToken)] }) { f in
            let app = try f.msalApp()
            let error = await failure { try await app.signIn(Self.alice) }
            #expect(error?.internalCode == MSALInternalError.internalErrorInvalidResponse.rawValue)
            #expect(try await app.listed().isEmpty)
        }
    }

    // Mirrors: msal.md 1.7, row by row
    @Test func describesTheTokenItsIssuerAndItsAccount() async throws {
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["scope": "user.READ  openid Extra.Scope"] }) {
            f in
            let correlationID = UUID()
            let result = try await f.msalApp().signIn(Self.alice) { $0.correlationId = correlationID }
            let tenant = f.emulator.control.tenantID("contoso.com")
            let objectID = f.emulator.control.objectID(of: Self.alice, in: tenant)
            #expect(result.scopes == ["user.READ", "openid", "Extra.Scope"])
            #expect(result.authorizationHeader == "Bearer \(result.accessToken)")
            #expect(result.authenticationScheme == "Bearer")
            #expect(result.correlationId == correlationID)
            #expect(result.authority.url.lastPathComponent == tenant)
            #expect(result.account.identifier == "\(objectID).\(tenant)")
            #expect(result.account.tenantProfiles == nil)
            #expect(result.account.accountClaims?["oid"] as? String == objectID)
            #expect(result.tenantProfile.identifier == objectID)
            #expect(result.tenantProfile.tenantId == tenant)
            #expect(result.tenantProfile.isHomeTenantProfile)
            #expect(result.tenantProfile.environment == result.account.environment)
            #expect(result.tenantProfile.claims?["aud"] as? String == "app-1")
            #expect(result.idToken?.split(separator: ".").count == 3)
        }
    }

    // Mirrors: A1 MSIDAccountIdentifierTests
    //   testInitWithJSONDictionary_whenDisplayableAndHomeAccountIDs_shouldInitAndNormalize; A2 MSIDClientInfoTests
    //   testAccountIdentifier_whenHomeAccountId_shouldReturnUserIndentifier
    @Test func formsTheIdentifierOfUIDAndUTIDInLowerCase() async throws {
        let info = clientInfo(uid: " UID ", utid: "UTID")
        try await AgentFixture.with(settings: .with { $0.tokenReply = ["client_info": .string(info)] }) { f in
            let account = try await f.msalApp().signIn("Alice@Contoso.com").account
            #expect(account.identifier == "uid.utid")
            #expect(account.homeAccountId?.objectId == "uid")
            #expect(account.homeAccountId?.tenantId == "utid")
            #expect(account.username == "Alice@Contoso.com")
        }
    }
}

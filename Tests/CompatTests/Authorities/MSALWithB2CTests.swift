internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// MSAL with Azure AD B2C, where each policy is an authority and has an account of its own.
@Suite(.bounded) struct MSALWithB2CTests {
    private static let tenant = "contoso.onmicrosoft.com"
    private static let host = "https://contoso.b2clogin.com"
    private static let alice = "alice@outlook.com"

    private static func policy(_ name: String, host: String = host) throws -> MSALB2CAuthority {
        try MSALB2CAuthority(url: url("\(host)/tfp/\(tenant)/\(name)"))
    }

    @Test(arguments: ["\(host)/tfp/\(tenant)/B2C_1_SignIn", "\(host)/\(tenant)/B2C_1_SignIn"])
    func signsInThenAnswersFromTheCacheThenRenews(authority: String) async throws {
        try await AgentFixture.online { f in
            let app = try f.msal(MSALB2CAuthority(url: url(authority)))
            let first = try await app.signIn(Self.alice, scopes: ["app-1"])
            let tenantID = f.emulator.control.tenantID(Self.tenant)
            let objectID = f.emulator.control.objectID(of: Self.alice, in: Self.tenant)
            #expect(first.account.identifier == "\(objectID)-b2c_1_signin.\(tenantID)")
            #expect(first.account.username == "Missing from the token response")
            #expect(first.tenantProfile.isHomeTenantProfile)
            #expect(first.tenantProfile.tenantId == tenantID)
            #expect(first.scopes.contains("app-1"))
            let second = try await app.silent(first.account, scopes: ["app-1"])
            #expect(second.accessToken == first.accessToken)
            let third = try await app.silent(first.account, scopes: ["app-1"], force: true)
            #expect(third.accessToken != first.accessToken)
            #expect(third.account == first.account)
            #expect(try app.allAccounts() == [first.account])
            #expect(f.redeemers == ["contoso.b2clogin.com"])
            #expect(f.emulator.control.counts[.instanceDiscovery] == 0)
        }
    }

    // Mirrors: MSIDDefaultSilentTokenRequestTests testAcquireTokenSilent_whenExpiredB2CAccessTokenInCache_shouldReturnToken
    @Test func renewsAnExpiredTokenAtItsPolicy() async throws {
        try await AgentFixture.online { f in
            let app = try f.msal(Self.policy("b2c_1_signin"))
            let account = try await app.signIn(Self.alice, scopes: ["https://contoso.onmicrosoft.com/api/read"]).account
            f.clock.advance(by: 10_000)
            let result = try await app.silent(account, scopes: ["https://contoso.onmicrosoft.com/api/read"])
            #expect(result.expiresOn ?? .distantPast > Date(timeIntervalSince1970: TimeInterval(f.clock.now)))
            #expect(result.account == account)
            let redeemed = try #require(f.emulator.control.requests.last { $0.counter == .refreshToken })
            #expect(redeemed.path.lowercased().hasSuffix("/b2c_1_signin/oauth2/v2.0/token"))
        }
    }

    @Test func namesTheTenantByItsIDInTheAuthorityOfTheResult() async throws {
        try await AgentFixture.online { f in
            let result = try await f.msal(Self.policy("B2C_1_SignIn")).signIn(Self.alice, scopes: ["app-1"])
            let authority = try #require(result.authority as? MSALB2CAuthority)
            let tenantID = f.emulator.control.tenantID(Self.tenant)
            #expect(authority.url.absoluteString == "\(Self.host)/tfp/\(tenantID)/B2C_1_SignIn")
        }
    }

    @Test func treatsEachPolicyAsAnAccount() async throws {
        try await AgentFixture.online { f in
            let (signIn, edit) = (try f.msal(Self.policy("b2c_1_signin")), try f.msal(Self.policy("b2c_1_edit")))
            let one = try await signIn.signIn(Self.alice, scopes: ["app-1"]).account
            let other = try await edit.signIn(Self.alice, scopes: ["app-1"]).account
            #expect(one != other)
            #expect(try Set(signIn.allAccounts().map(\.identifier)) == [one.identifier, other.identifier])
            for (app, account) in [(signIn, one), (edit, other)] {
                let result = try await app.silent(account, scopes: ["app-1"], force: true)
                #expect(result.account == account)
            }
            // The tokens of one policy are neither used for another nor sent to it.
            let asked = f.redemptions
            let error = await appError { try await edit.silent(one, scopes: ["app-1"]) }
            #expect(error?.code == MSALError.interactionRequired.rawValue)
            #expect(f.redemptions == asked)
            try await offPool { try signIn.remove(one) }
            #expect(try signIn.allAccounts() == [other])
        }
    }

    // Mirrors: MSALResult resultWithMSIDTokenResult: without an access token
    @Test func acquiresOnlyAnIDTokenWithoutAResource() async throws {
        try await AgentFixture.online { f in
            let app = try f.msal(Self.policy("b2c_1_signin"))
            let first = try await app.signIn(Self.alice, scopes: [])
            #expect(first.accessToken == "")
            #expect(first.authorizationHeader == "")
            #expect(first.scopes == [] && first.expiresOn == nil)
            #expect(first.idToken != nil)
            #expect(first.account.identifier != nil)
            let again = try await app.silent(first.account, scopes: ["app-1"])
            #expect(!again.accessToken.isEmpty)
        }
    }

    @Test func requiresACustomHostToBeKnown() async throws {
        try await AgentFixture.online { f in
            let authority = try Self.policy("b2c_1_signin")
            let known = try f.msal(authority)
            let account = try await known.signIn(Self.alice, scopes: ["app-1"]).account
            let app = try f.msal(authority, isKnown: false)
            // Also if a token is in the cache, because MSAL checks the authority first.
            for error in [
                await appError { try await app.silent(account, scopes: ["app-1"]) },
                await appError { try await app.signIn(Self.alice, scopes: ["app-1"]) },
            ] {
                #expect(error?.domain == MSALErrorDomain)
                #expect(error?.code == MSALError.internal.rawValue)
                #expect(error?.internalCode == MSALInternalError.internalErrorUnexpected.rawValue)
            }
            let trusted = try f.msal(
                Self.policy("b2c_1_signin", host: "https://login.microsoftonline.com"), isKnown: false)
            let result = try await trusted.signIn(Self.alice, scopes: ["app-1"])
            #expect(!result.accessToken.isEmpty)
        }
    }

    @Test func keepsThePolicyOfACustomDomain() async throws {
        try await AgentFixture.online { f in
            let authority = try MSALB2CAuthority(url: url("https://login.contoso.com/\(Self.tenant)/b2c_1_signin"))
            let app = try f.msal(authority)
            let first = try await app.signIn(Self.alice, scopes: ["app-1"])
            #expect(first.authority == authority)
            #expect(try await app.silent(first.account, scopes: ["app-1"]).accessToken == first.accessToken)
        }
    }
}

internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// MSAL with Entra External ID for customers.
@Suite(.bounded) struct MSALWithCIAMTests {
    private static let alice = "alice@outlook.com"

    @Test(arguments: [
        "https://contoso.ciamlogin.com", "https://contoso.ciamlogin.com/",
        "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
    ]) func signsInThenAnswersFromTheCacheThenRenews(text: String) async throws {
        try await AgentFixture.online { f in
            // CIAM is not validated, so that the authority need not be known.
            let app = try f.msal(MSALCIAMAuthority(url: url(text)), isKnown: false)
            let first = try await app.signIn(Self.alice)
            let tenantID = f.emulator.control.tenantID("contoso.onmicrosoft.com")
            #expect(first.account.homeAccountId?.tenantId == tenantID)
            #expect(first.account.username == Self.alice)
            #expect(first.tenantProfile.tenantId == tenantID)
            #expect(first.tenantProfile.isHomeTenantProfile)
            #expect(first.authority is MSALCIAMAuthority)
            #expect(first.authority.url.absoluteString == "https://contoso.ciamlogin.com/\(tenantID)")
            #expect(try await app.silent(first.account).accessToken == first.accessToken)
            #expect(try await app.silent(first.account, force: true).accessToken != first.accessToken)
            #expect(f.redeemers == ["contoso.ciamlogin.com"])
            #expect(f.emulator.control.counts[.instanceDiscovery] == 0)
        }
    }

    // Mirrors: MSIDRequestParametersTests testInitParameters_withClientIdAsScope_…: B2C alone knows the client ID as a scope
    @Test func refusesTheClientIDAsAScope() async throws {
        try await AgentFixture.online { f in
            let app = try f.msal(MSALCIAMAuthority(url: url("https://contoso.ciamlogin.com")), isKnown: false)
            let error = await appError { try await app.signIn(Self.alice, scopes: ["app-1"]) }
            #expect(error?.internalCode == MSALInternalError.internalErrorInvalidParameter.rawValue)
        }
    }

    @Test func treatsACustomDomainAsTheAppDeclaresIt() async throws {
        try await AgentFixture.online { f in
            let authority = try MSALCIAMAuthority(url: url("https://login.contoso.com/contoso.onmicrosoft.com"))
            let app = try f.msal(authority, isKnown: false)
            let first = try await app.signIn("alice@contoso.onmicrosoft.com")
            #expect(first.authority is MSALCIAMAuthority)
            #expect(try await app.silent(first.account).accessToken == first.accessToken)
            #expect(f.emulator.control.counts[.instanceDiscovery] == 0)
        }
    }
}

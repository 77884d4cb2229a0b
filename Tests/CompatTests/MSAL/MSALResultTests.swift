internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The properties of a result.
@Suite(.bounded) struct MSALResultTests {
    @Test func showsTheTokenOfTheAgent() throws {
        let token = Sample.jwt(["oid": "O", "tid": Sample.tenant, "name": "Anna"])
        let answer = Sample.result(idToken: token)
        let result = try MSALResult(answer)
        #expect(result.accessToken == "secret")
        #expect(result.authorizationHeader == "Bearer secret")
        #expect(result.authenticationScheme == "Bearer")
        #expect(result.expiresOn == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(result.scopes == ["User.Read"])
        #expect(result.idToken == token)
        #expect(result.correlationId == answer.correlationID.uuid)
        #expect(!result.extendedLifeTimeToken)
        #expect(result.authority is MSALAADAuthority)
        #expect(result.authority.url.absoluteString == "https://login.microsoftonline.com/\(Sample.tenant)")
        #expect(result.account.identifier == Sample.home)
        #expect(result.account.tenantProfiles == nil)
        #expect(result.account.accountClaims?["name"] as? String == "Anna")
        #expect(result.tenantProfile.tenantId == Sample.tenant)
        #expect(result.tenantProfile.claims?["oid"] as? String == "O")
    }

    @Test func takesNoAccountClaimsFromAGuestToken() throws {
        let token = Sample.jwt(["tid": "guest"])
        let result = try MSALResult(Sample.result(idToken: token, profile: Sample.profile("guest", isHome: false)))
        #expect(result.account.accountClaims == nil)
        #expect(result.tenantProfile.claims?["tid"] as? String == "guest")
    }

    @Test func readsTheProfileFromTheIDTokenWithoutOneFromTheAgent() throws {
        let token = Sample.jwt(["oid": "OBJ", "tid": Sample.tenant])
        let profile = try MSALResult(Sample.result(idToken: token, profile: nil)).tenantProfile
        #expect(profile.identifier == "obj")
        #expect(profile.tenantId == Sample.tenant)
        #expect(profile.isHomeTenantProfile)
    }

    @Test func hasNoHeaderWithoutAToken() throws {
        #expect(try MSALResult(Sample.result(accessToken: "")).authorizationHeader == "")
    }

    @Test func failsWithAnUnreadableIDToken() {
        #expect(throws: TokenError.self) { try MSALResult(Sample.result(idToken: "a.b.c")) }
    }

    /// ID tokens of users in turn, so that some are read again, and others are not.
    @Test func checksEachIDTokenAsIfItWereTheFirst() throws {
        for round in 0..<40 {
            let name = "user \(round % (round < 20 ? 3 : 7))"
            let token = Sample.jwt(["oid": "O", "tid": Sample.tenant, "name": name])
            let result = try MSALResult(Sample.result(idToken: token))
            #expect(result.idToken == token)
            #expect(result.account.accountClaims?["name"] as? String == name)
            for unreadable in ["a.b.c", "", ".."] {
                #expect(throws: TokenError.self) { try MSALResult(Sample.result(idToken: unreadable)) }
            }
        }
    }
}

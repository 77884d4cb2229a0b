internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The properties of an account, and the equality of accounts.
@Suite(.bounded) struct MSALAccountTests {
    @Test func usesTheHomeAccountIDAsTheIdentifier() {
        let account = MSALAccount(Sample.account(home: "UID.UTID"))
        #expect(account.identifier == "uid.utid")
        #expect(account.homeAccountId?.identifier == "uid.utid")
        #expect(account.homeAccountId?.objectId == "uid")
        #expect(account.homeAccountId?.tenantId == "utid")
        #expect(account.username == "Anna@Contoso.com")
        #expect(!account.isSSOAccount)
    }

    @Test func hasNoPartsOfAnUndividedIdentifier() {
        let id = MSALAccount(Sample.account(home: "subject")).homeAccountId
        #expect(id?.identifier == "subject")
        #expect(id?.objectId == nil && id?.tenantId == nil)
    }

    @Test(arguments: [
        (Sample.account(), Sample.account(environment: "login.microsoftonline.us"), true),
        (Sample.account(), Sample.account(username: "other@contoso.com"), true),
        (Sample.account(), Sample.account(home: "u.t"), false),
        (Sample.account(), Sample.account(home: nil, username: "ANNA@contoso.com"), true),
        (Sample.account(home: nil), Sample.account(home: nil, username: "anna@CONTOSO.com"), true),
        (Sample.account(home: nil), Sample.account(home: nil, username: "bob@contoso.com"), false),
        (Sample.account(home: nil, username: nil), Sample.account(home: nil, username: nil), true),
        (Sample.account(home: nil, username: nil), Sample.account(), false),
    ]) func isTheSameByIdentifierElseByName(left: Account, right: Account, same: Bool) {
        #expect((MSALAccount(left) == MSALAccount(right)) == same)
        #expect(MSALAccount(left).hash == MSALAccount(right).hash)
    }

    // Mirrors: MSALAccountIdTests testIsEqual_… (3)
    @Test func comparesHomeAccountIDs() throws {
        let id = try #require(MSALAccount(Sample.account(home: "UID.UTID")).homeAccountId)
        let same = MSALAccount(Sample.account(home: "uid.utid", username: "other@contoso.com")).homeAccountId
        #expect(id == same && id.hash == same?.hash)
        #expect(id != MSALAccount(Sample.account(home: "uid.other")).homeAccountId)
        #expect(id != MSALAccountId() && !id.isEqual(nil))
    }

    @Test func readsClaimsFromThePayloadOnly() throws {
        let token = Sample.jwt(["oid": "o", "name": "Anna"])
        let account = MSALAccount(Sample.account(homeIDToken: token))
        let claims = try #require(account.accountClaims)
        #expect(Set(claims.keys) == ["oid", "name"])
        #expect(MSALAccount(Sample.account()).accountClaims == nil)
    }

    @Test func showsTheClaimsOfEachTenantProfile() throws {
        var account = Sample.account()
        account.tenantProfiles = [
            Sample.profile(idToken: Sample.jwt(["tid": "home"])), Sample.profile("guest", isHome: false),
        ]
        let profiles = try #require(MSALAccount(account).tenantProfiles)
        #expect(profiles.map(\.tenantId) == [Sample.tenant, "guest"])
        #expect(profiles.map(\.isHomeTenantProfile) == [true, false])
        #expect(profiles.first?.claims?["tid"] as? String == "home")
        #expect(profiles.last?.claims == nil)
    }

    @Test func equalsItsCopy() {
        let account = MSALAccount(Sample.account())
        #expect(account.copy() as? MSALAccount == account)
    }

    @Test func mergesTenantsAndTheUsernameOfTheHomeTenant() {
        var guest = Sample.account(username: "anna_contoso#EXT#@fabrikam.com")
        guest.tenantProfiles = [Sample.profile("fabrikam", isHome: false)]
        var home = Sample.account(homeIDToken: Sample.jwt(["name": "Anna"]))
        home.tenantProfiles = [
            Sample.profile(idToken: Sample.jwt(["name": "Anna"])), Sample.profile("fabrikam", isHome: false),
        ]
        let merged = MSALAccount(MSALAccount(guest), merging: MSALAccount(home))
        #expect(merged.tenantProfiles?.map(\.tenantId) == ["fabrikam", Sample.tenant])
        #expect(merged.username == "Anna@Contoso.com")
        #expect(merged.accountClaims?["name"] as? String == "Anna")
    }

    /// As at B2C, where each policy is a home. None of them is the one whose claims describe the account.
    @Test func takesNoClaimsOfSeveralHomeTenants() {
        var other = Sample.account(username: "other@contoso.com")
        other.tenantProfiles = ["one", "two"].map { Sample.profile($0, idToken: Sample.jwt(["name": $0])) }
        let merged = MSALAccount(MSALAccount(Sample.account()), merging: MSALAccount(other))
        #expect(merged.tenantProfiles?.map(\.tenantId) == ["one", "two"])
        #expect(merged.username == "Anna@Contoso.com")
        #expect(merged.accountClaims == nil)
    }

    @Test func keepsItsUsernameWhenItIsMergedWithoutClaims() {
        var guest = Sample.account(username: "anna_contoso#EXT#@fabrikam.com")
        guest.tenantProfiles = [Sample.profile("fabrikam", isHome: false)]
        var home = Sample.account()
        home.tenantProfiles = [Sample.profile()]
        let merged = MSALAccount(MSALAccount(guest), merging: MSALAccount(home))
        #expect(merged.tenantProfiles?.map(\.tenantId) == ["fabrikam", Sample.tenant])
        #expect(merged.username == "anna_contoso#EXT#@fabrikam.com")
        #expect(merged.accountClaims == nil)
    }
}

internal import ADALCompat
internal import Foundation
internal import TestSupport
internal import Testing

@Suite(.bounded) struct ADALUserInformationTests {
    struct Row: Sendable {
        var claims: [String: String]
        var userID: String
        var isDisplayable: Bool
        var uniqueID: String?
    }

    static let rows = [
        // The v1 endpoint: the first of upn, email, sub, oid, unique_name, altsecid.
        Row(
            claims: ["ver": "1.0", "upn": " Alice@Contoso.com ", "email": "e@x.com", "oid": "O1", "sub": "S1"],
            userID: "alice@contoso.com", isDisplayable: true, uniqueID: "o1"),
        Row(
            claims: ["ver": "1.0", "upn": " ", "email": "E@x.com", "sub": "S1"], userID: "e@x.com", isDisplayable: true,
            uniqueID: "s1"),
        Row(
            claims: ["ver": "1.0", "sub": "S1", "oid": "O1", "unique_name": "U1"], userID: "s1", isDisplayable: false,
            uniqueID: "o1"),
        Row(claims: ["ver": "1.0", "oid": "O1"], userID: "o1", isDisplayable: false, uniqueID: "o1"),
        Row(
            claims: ["ver": "1.0", "unique_name": "U1", "altsecid": "A1"], userID: "u1", isDisplayable: true,
            uniqueID: nil),
        Row(claims: ["ver": "1.0", "altsecid": "A1"], userID: "a1", isDisplayable: false, uniqueID: nil),
        // The v2 endpoint: preferred_username, else sub.
        Row(
            claims: [
                "ver": "2.0", "preferred_username": "Alice@Contoso.com", "upn": "other", "oid": "O1", "sub": "S1",
            ],
            userID: "alice@contoso.com", isDisplayable: true, uniqueID: "o1"),
        Row(claims: ["ver": "2.0", "sub": "S1"], userID: "s1", isDisplayable: true, uniqueID: "s1"),
        // Neither: as v1 if there is a v1 name, else the subject.
        Row(claims: ["upn": "A@x", "sub": "S1"], userID: "a@x", isDisplayable: true, uniqueID: "s1"),
        Row(claims: ["unique_name": "U1", "sub": "S1"], userID: "s1", isDisplayable: false, uniqueID: "s1"),
        Row(
            claims: ["ver": "9", "email": "e@x.com", "sub": "S1", "oid": "O1"], userID: "s1", isDisplayable: false,
            uniqueID: "s1"),
    ]

    @Test(arguments: rows) func namesTheUserByTheVersionOfTheToken(row: Row) throws {
        let info = try #require(ADUserInformation(idToken: try ADALIDToken.make(row.claims), error: nil))
        #expect(info.userId == row.userID)
        #expect(info.userIdDisplayable == row.isDisplayable)
        #expect(info.uniqueId == row.uniqueID)
        #expect(info.homeAccountId == nil)
    }

    @Test func sendsTheClaimsUnchanged() throws {
        let claims = [
            "ver": "1.0", "upn": "Alice@Contoso.com", "given_name": "Alice", "family_name": "Example",
            "idp": "live.com",
            "email": "a@x.com", "unique_name": "U", "tid": "T", "sub": "S", "oid": "O", "altsecid": "A",
        ]
        let token = try ADALIDToken.make(claims)
        let info = try #require(ADUserInformation(idToken: token, error: nil))
        let values = [
            info.upn, info.givenName, info.familyName, info.identityProvider, info.eMail, info.uniqueName,
            info.tenantId, info.subject, info.userObjectId, info.guestId,
        ]
        #expect(values == ["Alice@Contoso.com", "Alice", "Example", "live.com", "a@x.com", "U", "T", "S", "O", "A"])
        #expect(info.rawIdToken == token)
        // The members of the header are not claims.
        #expect(info.allClaims as? [String: String] == claims)
    }

    @Test func readsATokenThatIsItsPayloadAlone() throws {
        let payload = ADALIDToken.encoded(Data(#"{"upn":"Alice@contoso.com"}"#.utf8))
        #expect(ADUserInformation(idToken: payload, error: nil)?.userId == "alice@contoso.com")
    }

    @Test(arguments: ["", "no token", "a.b.c", "e30", "W10"]) func refusesATokenWithoutAUser(token: String) {
        var error: ADAuthenticationError?
        #expect(ADUserInformation(idToken: token, error: &error) == nil)
        #expect(error?.domain == ADAuthenticationErrorDomain)
        #expect(error?.code == ADErrorCode.ERROR_SERVER_INVALID_ID_TOKEN.rawValue)
    }

    @Test func decodesItsArchive() throws {
        let token = try ADALIDToken.make(["upn": "alice@contoso.com"])
        let info = try #require(ADUserInformation(idToken: token, homeAccountID: "uid.utid"))
        let archive = try NSKeyedArchiver.archivedData(withRootObject: info, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: ADUserInformation.self, from: archive)
        #expect(copy == info)
        #expect(copy?.homeAccountId == "uid.utid")
    }

    @Test func decodesTheArchiveOfAnAccountWithoutAnIDToken() throws {
        let info = ADUserInformation(userID: "alice@contoso.com", isDisplayable: true, homeAccountID: "uid.utid")
        let archive = try NSKeyedArchiver.archivedData(withRootObject: info, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: ADUserInformation.self, from: archive)
        #expect(copy == info)
        #expect(copy?.userIdDisplayable == true)
    }

    // Mirrors: ADUserInformationTests testIsEqual_… (3), testCopyWithZone_whenAllPropertiesAreSet_shouldCopyAllOfThem
    @Test func comparesTokenAndHomeAccountID() throws {
        let (alice, bob) = (
            try ADALIDToken.make(["upn": "alice@contoso.com"]), try ADALIDToken.make(["upn": "bob@contoso.com"])
        )
        let info = try #require(ADUserInformation(idToken: alice, homeAccountID: "uid.utid"))
        let same = ADUserInformation(idToken: alice, homeAccountID: "uid.utid")
        #expect(info == same)
        #expect(info.hash == same?.hash)
        #expect(info != ADUserInformation(idToken: bob, homeAccountID: "uid.utid"))
        #expect(info != ADUserInformation(idToken: alice, homeAccountID: "other.utid"))
        #expect(info != ADUserInformation(idToken: alice, homeAccountID: nil))
        #expect(info.copy() as? ADUserInformation == info)
        #expect(ADUserInformation.supportsSecureCoding && ADTokenCacheItem.supportsSecureCoding)
    }
}

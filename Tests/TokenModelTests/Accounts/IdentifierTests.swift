internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct IdentifierTests {
    @Test(arguments: ["", " ", "\n\t"])
    func refusesBlanks(text: String) {
        #expect(ClientID(text) == nil)
        #expect(HomeAccountID(text) == nil)
        #expect(FamilyID(text) == nil)
        #expect(SharingGroup(text) == nil)
        #expect(HomeAccountID(uid: text, utid: "t") == nil)
        #expect(HomeAccountID(uid: "u", utid: text) == nil)
        #expect(HomeAccountID(uid: nil, utid: "t") == nil)
        #expect(AccountReference(username: text).isEmpty)
    }

    @Test func comparesClientIDsWithoutRegardToCaseButKeepsTheAppsSpelling() throws {
        let upper = try #require(ClientID(" ABC "))
        #expect(upper.text == "ABC")
        #expect(upper.key == "abc")
        #expect(upper == ClientID("abc"))
        #expect(Set([upper, try #require(ClientID("abc"))]).count == 1)
    }

    /// As on the disk.
    @Test func tellsGroupsApartWhoseNamesLookAlike() {
        #expect(SharingGroup("\u{E9}") == SharingGroup("\u{E9}"))
        #expect(SharingGroup("\u{E9}") != SharingGroup("e\u{301}"))
    }

    @Test func tellsAccountsApartWhoseIdentifiersLookAlike() {
        #expect(HomeAccountID("\u{E9}.t") == HomeAccountID("\u{E9}.t"))
        #expect(HomeAccountID("\u{E9}.t") != HomeAccountID("e\u{301}.t"))
    }

    @Test func tellsAppsApartWhoseIDsLookAlike() {
        #expect(ClientID("\u{E9}") == ClientID("\u{E9}"))
        #expect(ClientID("\u{E9}") != ClientID("e\u{301}"))
    }

    @Test func normalisesHomeAccountIDs() {
        #expect(HomeAccountID(" Uid.Utid ")?.text == "uid.utid")
        #expect(HomeAccountID(uid: " Uid ", utid: "Utid") == HomeAccountID("uid.utid"))
    }

    @Test(
        arguments: [
            ("uid.utid", "uid", "utid"), ("subject", nil, nil), ("a.b.c", nil, nil), (".utid", nil, nil),
            ("uid.", nil, nil),
        ] as [(String, String?, String?)])
    func splitsAHomeAccountIDOfTwoParts(text: String, objectID: String?, tenantID: String?) {
        #expect(HomeAccountID(text)?.objectID == objectID)
        #expect(HomeAccountID(text)?.tenantID == tenantID)
    }

    @Test func readsACorrelationIDInAnyCase() {
        let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
        #expect(CorrelationID(text)?.description == text.lowercased())
        #expect(CorrelationID(text)?.uuid.uuidString == text)
    }

    @Test(arguments: [
        "", "not a UUID", "00112233-4455-6677-8899-AABBCCDDEEF", "00112233-4455-6677-8899-AABBCCDDEEFF0",
        "001122334455-6677-8899-AABBCCDDEEFF-", "0011223-34455-6677-8899-AABBCCDDEEFF",
        "00112233-4455-6677-8899-AABBCCDDEEFG", "{0112233-4455-6677-8899-AABBCCDDEEF}",
    ])
    func refusesACorrelationIDThatIsNoUUID(text: String) {
        #expect(CorrelationID(text) == nil)
    }

    /// RFC 9562 section 5.4: version 4, variant 2.
    @Test func makesRandomCorrelationIDs() {
        let text = Array(CorrelationID().description)
        #expect(text[14] == "4")
        #expect("89ab".contains(text[19]))
        #expect(CorrelationID() != CorrelationID())
    }
}

internal import ADALCompat
internal import TestSupport
internal import Testing

@Suite(.bounded) struct ADALUserIdentifierTests {
    @Test(arguments: [
        (UniqueId, "object-1", true), (UniqueId, "alice@contoso.com", false),
        (OptionalDisplayableId, "bob@contoso.com", true),
        (RequiredDisplayableId, " Alice@Contoso.com ", true), (RequiredDisplayableId, "bob@contoso.com", false),
    ])
    func comparesByItsType(type: ADUserIdentifierType, id: String, expected: Bool) throws {
        let token = try ADALIDToken.make(["ver": "1.0", "upn": "alice@contoso.com", "oid": "Object-1"])
        let info = try #require(ADUserInformation(idToken: token, error: nil))
        let identifier = try #require(ADUserIdentifier(id: id, type: type))
        #expect(ADUserIdentifier.identifier(identifier, matchesInfo: info) == expected)
    }

    @Test func matchesAnyoneWhenItNamesNobody() throws {
        let token = try ADALIDToken.make(["upn": "alice@contoso.com"])
        let info = try #require(ADUserInformation(idToken: token, error: nil))
        #expect(ADUserIdentifier.identifier(nil, matchesInfo: info))
        #expect(ADUserIdentifier.identifier(nil, matchesInfo: nil))
        // The token has no `oid` and no `sub` to compare with.
        #expect(ADUserIdentifier.identifier(ADUserIdentifier(id: "x", type: UniqueId), matchesInfo: info))
    }

    @Test(arguments: [(UniqueId, false), (OptionalDisplayableId, true), (RequiredDisplayableId, false)])
    func matchesMissingInformationOnlyIfItIsOptional(type: ADUserIdentifierType, expected: Bool) {
        let identifier = ADUserIdentifier(id: "alice@contoso.com", type: type)
        #expect(ADUserIdentifier.identifier(identifier, matchesInfo: nil) == expected)
    }

    @Test(arguments: [
        ("UniqueId", UniqueId), ("OptionalDisplayableId", OptionalDisplayableId),
        ("RequiredDisplayableId", RequiredDisplayableId), ("uniqueid", RequiredDisplayableId),
        ("", RequiredDisplayableId),
    ])
    func readsTheNamesOfTypes(name: String, expected: ADUserIdentifierType) throws {
        let identifier = try #require(ADUserIdentifier(id: "alice", typeFrom: name))
        #expect(identifier.type == expected)
        #expect(identifier.typeAsString() == ADUserIdentifier.string(for: expected))
    }

    @Test func normalizesTheName() {
        #expect(ADUserIdentifier(id: "\tAlice@Contoso.com\n")?.userId == "alice@contoso.com")
        #expect(ADUserIdentifier(id: "Alice")?.type == RequiredDisplayableId)
        #expect(ADUserIdentifier(id: "  ")?.userId == nil)
        #expect(ADUserInformation.normalizeUserId("  ") == nil)
    }

    @Test func reportsWhetherTheNameIsDisplayable() {
        #expect(ADUserIdentifier(id: "a", type: UniqueId)?.isDisplayable() == false)
        #expect(ADUserIdentifier(id: "a", type: OptionalDisplayableId)?.isDisplayable() == true)
        #expect(ADUserIdentifier(id: "a")?.isDisplayable() == true)
        #expect(ADUserIdentifier.string(for: ADUserIdentifierType(9)) == nil)
    }
}

internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct ScopeSetTests {
    @Test func trimsAndDropsBlanksAndRepeatsButKeepsCaseAndOrder() {
        let scopes = ScopeSet([" Mail.Read ", "", "  ", "User.Read", "mail.read"])
        #expect(scopes.scopes == ["Mail.Read", "User.Read"])
        #expect(scopes.target == "Mail.Read User.Read")
        #expect(ScopeSet(target: " Mail.Read \t User.Read\n").scopes == ["Mail.Read", "User.Read"])
    }

    @Test func comparesWithoutRegardToCaseOrOrder() {
        #expect(ScopeSet(["A", "b"]) == ScopeSet(["B", "a"]))
        #expect(ScopeSet(["A", "b"]).hashValue == ScopeSet(["B", "a"]).hashValue)
        #expect(ScopeSet(["a"]) != ScopeSet(["a", "b"]))
    }

    /// The trailing slash of a resource is kept, since the issuer compares the text exactly.
    @Test(arguments: [
        ("https://graph.example.com", "https://graph.example.com/.default"),
        ("https://graph.example.com/", "https://graph.example.com//.default"),
        ("11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-555555555555/.default"),
    ])
    func standsForAResource(resource: String, scope: String) {
        #expect(ScopeSet(resource: resource).scopes == [scope])
        #expect(ScopeSet([scope]).resource == resource)
    }

    @Test(arguments: [[], ["User.Read"], ["https://a/.default", "https://b/.default"], ["https://a/.Default"]])
    func standsForNoResource(scopes: [String]) {
        #expect(ScopeSet(scopes).resource == nil)
    }

    /// Entra refuses a request for two resources after the user has signed in, and takes each of these for one.
    @Test(
        arguments: [
            (["User.Read", "https://graph.microsoft.com/Mail.Read"], 1), (["User.Read", "openid", "email"], 1),
            (["User.Read", "00000003-0000-0000-c000-000000000000/Mail.Read"], 1),
            (["https://vault.example/read", "https://VAULT.example//.default"], 1), (["openid", "offline_access"], 0),
            (["User.Read", "https://vault.example/.default"], 2), (["api://a/read", "api://b/read"], 2),
        ])
    func countsTheResourcesOfScopes(scopes: [String], count: Int) {
        #expect(ScopeList.resources(scopes).count == count)
    }

    @Test func keepsTheRequestedScopesOfTooMany() {
        let granted = ScopeSet((0..<300).map { "Scope.\($0)" })
        let limited = granted.limited(keeping: ScopeSet(["scope.299"]))
        #expect(limited.scopes == Array(granted.scopes.prefix(ValueLimits.listItems - 1)) + ["Scope.299"])
    }

    @Test func knowsItsRelationsToOthers() {
        let mail = ScopeSet(["Mail.Read", "Mail.Send"])
        #expect(ScopeSet(["mail.read"]).isSubset(of: mail))
        #expect(!mail.isSubset(of: ScopeSet(["mail.read"])))
        #expect(ScopeSet([]).isSubset(of: mail))
        #expect(mail.intersects(ScopeSet(["MAIL.SEND", "User.Read"])))
        #expect(!mail.intersects(ScopeSet(["User.Read"])))
        #expect(mail.contains("mail.send"))
        #expect(mail.subtracting(ScopeSet(["MAIL.read"])).scopes == ["Mail.Send"])
        #expect(mail.union(ScopeSet(["mail.READ", "User.Read"])).scopes == ["Mail.Read", "Mail.Send", "User.Read"])
        #expect(ScopeSet.reserved.contains("Offline_Access"))
    }
}

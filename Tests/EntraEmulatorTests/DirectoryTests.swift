internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct DirectoryTests {
    @Test func derivesIDsFromTheSeed() {
        let one = Directory(seed: 1).user(username: "alice@contoso.example")
        #expect(one == Directory(seed: 1).user(username: "alice@contoso.example"))
        #expect(one.objectID != Directory(seed: 2).user(username: "alice@contoso.example").objectID)
        #expect(one.homeTenantID != Directory(seed: 2).user(username: "alice@contoso.example").homeTenantID)
    }

    @Test(arguments: ["ALICE@contoso.example", "alice@CONTOSO.example"])
    func ignoresTheCaseOfUsernames(username: String) {
        let directory = Directory(seed: 1)
        #expect(
            directory.user(username: username).homeAccountID
                == directory.user(username: "alice@contoso.example").homeAccountID)
    }

    @Test func givesUsersOfOneDomainTheSameTenant() {
        let directory = Directory(seed: 1)
        let alice = directory.user(username: "alice@contoso.example")
        let bob = directory.user(username: "bob@contoso.example")
        #expect(alice.homeTenantID == bob.homeTenantID)
        #expect(alice.objectID != bob.objectID)
    }

    @Test(arguments: ["alice", "bob@", "@"])
    func putsUsersWithoutADomainInOneTenant(username: String) {
        let directory = Directory(seed: 1)
        #expect(directory.user(username: username).homeTenantID == directory.tenantID(domain: "contoso.example"))
    }

    @Test(arguments: ["eve@outlook.com", "eve@Hotmail.com"])
    func putsPersonalAccountsInTheirTenant(username: String) {
        let user = Directory(seed: 1).user(username: username)
        #expect(user.homeTenantID == "9188040d-6c67-4c5b-b112-36a304b66dad")
        #expect(user.objectID.hasPrefix("00000000-0000-0000-"))
        #expect(user.objectID.count == 36)
        #expect(user.isPersonal)
    }

    @Test(
        arguments: [
            ("common", nil), ("organizations", nil), ("adfs", nil),
            ("consumers", "9188040d-6c67-4c5b-b112-36a304b66dad"),
            ("0F8FAD5B-D9CB-469F-A165-70867728950E", "0f8fad5b-d9cb-469f-a165-70867728950e"),
            ("Contoso.example", Directory(seed: 1).tenantID(domain: "contoso.example")),
        ] as [(String, String?)])
    func namesATenantByRealm(realm: String, tenantID: String?) {
        #expect(Directory(seed: 1).tenantID(realm: realm) == tenantID)
    }

    @Test func givesTheSameTokensInEachRun() async throws {
        func refreshToken() async throws -> String? {
            try await withEmulator { try await App(emulator: $0).signIn().text("refresh_token") }
        }
        let first = try await refreshToken()
        #expect(first != nil)
        #expect(try await refreshToken() == first)
    }

    /// An app keeps its tokens over a restart or a reset of the emulator.
    @Test func givesNobodyTheTokensOfAnEarlierRun() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            let alice = try await app.signIn(["login_hint": "alice@contoso.example"])
            emulator.control.reset()
            let bob = try await app.signIn(["login_hint": "bob@contoso.example"])
            #expect(try await app.redeem(refreshToken: alice.text("refresh_token"))["error"] == "invalid_grant")
            let bearer = ["authorization": "Bearer \(alice.text("access_token") ?? "")"]
            #expect(try await HTTP.get("\(emulator.url)/oidc/userinfo", headers: bearer).status == 401)
            #expect(try await app.redeem(refreshToken: bob.text("refresh_token")).status == 200)
        }
    }
}

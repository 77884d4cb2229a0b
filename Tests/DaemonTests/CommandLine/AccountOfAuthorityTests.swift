internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing

/// Which of several accounts a command means at an authority.
@Suite(.bounded) struct AccountOfAuthorityTests {
    /// A work account and a personal one may have the same name.
    @Test func meansTheAccountThatTheAuthorityIsFor() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let name = "alice@contoso.com"
            let target = ["--client-id", "app-1", "--scope", "User.Read", "--authority"]
            f.emulator.control.settings.idTokenClaims = ["preferred_username": .string(name)]
            for user in ["alice@outlook.com", name] {
                try await f.ssoctl(["sign-in"] + target + ["\(f.emulator.url)/common", "--login-hint", user])
            }
            for (realm, isPersonal) in [("consumers", true), ("organizations", false)] {
                for named in [[], ["--account", "alice"], ["--username", name]] {
                    let token = try await f.json(["token"] + target + ["\(f.emulator.url)/\(realm)"] + named)
                    let account = token["account"] as? [String: Any]
                    let tenant = (account?["identifier"] as? String)?.split(separator: ".").last
                    #expect((tenant == "9188040d-6c67-4c5b-b112-36a304b66dad") == isPersonal, "\(realm), \(named)")
                }
            }
            let failed = try await f.failure(["token"] + target + ["\(f.emulator.url)/common"], status: 2)
            #expect((failed["accounts"] as? [Any])?.count == 2, "\(failed)")
            withExtendedLifetime(agent) {}
        }
    }
}

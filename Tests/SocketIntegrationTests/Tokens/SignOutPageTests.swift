internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// The pages that end the session of a browser, which a sign-out may ask for.
@Suite(.bounded) struct SignOutPageTests {
    private static let alice = "alice@contoso.com"
    private static let provider = "https://id.contoso.example/openid/Main"

    struct Row: Sendable, CustomTestStringConvertible {
        var authority: String
        var kind: Authority.Kind?
        var resource: String?
        var page: String
        var testDescription: String { authority }
    }

    @Test(
        arguments: [
            Row(
                authority: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin",
                page: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin/oauth2/v2.0/logout"
                    + "?client_id=app-1"),
            Row(
                authority: "https://contoso.ciamlogin.com",
                page: "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/oauth2/v2.0/logout"),
            Row(
                authority: "https://fs.contoso.com/adfs", resource: "https://api.contoso.com",
                page: "https://fs.contoso.com/adfs/oauth2/logout"),
            Row(authority: provider, kind: .openID, page: "\(provider)/logout?client_id=app-1"),
        ])
    func returnsThePageOfTheProvider(row: Row) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(
                at: row.authority, kind: row.kind, resource: row.resource, validates: false)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            let reply = try await f.agent.removeAccount(Self.removal(of: account, parameters))
            #expect(reply == RemoveAccount.Reply(removed: true, signOutPages: [row.page]))
            try await f.browse(to: row.page)
            #expect(f.emulator.control.counts[.logout] == 1)
        }
    }

    @Test func knowsThePageOfMicrosoftsCloudsWithoutTheNetwork() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: "https://login.microsoftonline.com/common")
            let account = try await f.signIn(Self.alice, parameters).account
            let tenant = try #require(account.homeAccountID?.tenantID)
            await f.goOffline()
            try await f.restarted { f in
                let reply = try await f.agent.removeAccount(Self.removal(of: account.reference, parameters))
                let page = "https://login.microsoftonline.com/\(tenant)/oauth2/v2.0/logout"
                #expect(reply == RemoveAccount.Reply(removed: true, signOutPages: [page]))
            }
        }
    }

    @Test func signsOutAlsoIfTheProviderCannotBeReached() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            await f.goOffline()
            try await f.restarted { f in
                let reply = try await f.agent.removeAccount(Self.removal(of: account, parameters))
                #expect(reply == RemoveAccount.Reply(removed: true))
                #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).isEmpty)
            }
        }
    }

    /// The account is gone while the provider is being asked, and the reply does not wait for it.
    @Test func signsOutBeforeTheProviderAnswers() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            try await f.restarted { f in
                f.emulator.control.inject(
                    Fault {
                        $0.endpoint = .openIDConfiguration
                        $0.hold = true
                        $0.count = 0
                    })
                let request = Self.removal(of: account, parameters)
                let removal = Task { try await f.agent.removeAccount(request) }
                await f.emulator.control.waitForHeld(atLeast: 1)
                #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).isEmpty)
                // Its own timer may not have been set yet.
                f.timers.skipDelays(upTo: 5)
                try await f.timers.advance(by: 5)
                #expect(try await removal.value == RemoveAccount.Reply(removed: true))
                f.emulator.control.clearFaults()
                f.emulator.control.release()
            }
        }
    }

    @Test func asksNoProviderUnlessAPageIsWanted() async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            try await f.restarted { f in
                f.emulator.control.resetCounts()
                var request = Self.removal(of: account, parameters)
                request.wantsSignOutPages = false
                let reply = try await f.agent.removeAccount(request)
                #expect(reply == RemoveAccount.Reply(removed: true))
                #expect(f.emulator.control.requests.isEmpty)
            }
        }
    }

    /// The provider writes its discovery document.
    @Test(
        arguments: [
            "https://login.microsoftonline.com/common/oauth2/v2.0/logout",
            "http://id.contoso.example/openid/Main/logout", "https://127.0.0.1/admin", "javascript:alert(1)", "",
        ])
    func returnsNoPageThatTheProviderMustNotName(page: String) async throws {
        try await AgentFixture.online { f in
            f.emulator.control.settings.openIDConfiguration = ["end_session_endpoint": .string(page)]
            let parameters = try f.parameters(at: Self.provider, kind: .openID)
            let account = try await f.signIn(Self.alice, parameters).account.reference
            let reply = try await f.agent.removeAccount(Self.removal(of: account, parameters))
            #expect(reply == RemoveAccount.Reply(removed: true))
        }
    }

    private static func removal(of account: AccountReference, _ parameters: TokenParameters) -> RemoveAccount {
        RemoveAccount(clientID: parameters.clientID, account: account, extent: .account, wantsSignOutPages: true)
    }
}

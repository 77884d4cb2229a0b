internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// `ssoctl sign-out --browser`, which opens the page that ends the session of the browser.
@Suite(.bounded) struct SignOutPageTests {
    private static let alice = "alice@contoso.com"

    @Test func opensThePageOfAnOpenIDProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("main", clientID: "app-2", ofProvider: "Main")
            try await f.signIn(app: "main", Self.alice)
            let ended = try await f.ssoctl(["sign-out", "alice", "--browser"])
            let page = "\(f.emulator.url)/openid/Main/logout?client_id=app-2"
            #expect(ended.errors.contains("open: \(page)\n"), "\(ended.errors)")
            #expect(ended.output.contains("Signed out \(Self.alice) of main"), "\(ended.output)")
            await f.emulator.control.waitForCount(.logout, atLeast: 1)
            let opened = f.emulator.control.requests.last { $0.counter == .logout }
            // Neither an ID token nor a name: other users can read the arguments of the browser.
            #expect(opened?.parameters == ["client_id": "app-2"])
            withExtendedLifetime(agent) {}
        }
    }

    @Test func opensThePageOfEachProviderOfTheName() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("main", clientID: "app-2", ofProvider: "main")
            for app in ["graph", "main"] { try await f.signIn(app: app, Self.alice) }
            let ended = try await f.ssoctl(["sign-out", "--username", Self.alice, "--browser"])
            #expect(ended.errors.contains("/oauth2/v2.0/logout\n"), "\(ended.errors)")
            #expect(ended.errors.contains("/openid/main/logout?client_id=app-2\n"), "\(ended.errors)")
            await f.emulator.control.waitForCount(.logout, atLeast: 2)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func saysThatTheProviderNamesNoPage() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            f.emulator.control.settings.openIDConfiguration = ["end_session_endpoint": .null]
            try await f.addApp("main", clientID: "app-2", ofProvider: "main")
            try await f.signIn(app: "main", Self.alice)
            let ended = try await f.ssoctl(["sign-out", "alice", "--browser"])
            #expect(ended.output.contains("Signed out \(Self.alice) of main"), "\(ended.output)")
            #expect(
                ended.errors.contains("no page is known that ends the session of the browser at 127.0.0.1:"),
                "\(ended.errors)")
            #expect(f.emulator.control.counts[.logout] == 0)
            withExtendedLifetime(agent) {}
        }
    }

    /// An agent of an earlier version does not know the field, and one of another user could name anything.
    @Test(arguments: [[], ["file:///etc/hosts"], ["-private https://login.example/"]])
    func opensNothingThatIsNoWebPage(pages: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let account = Account(
                homeAccountID: HomeAccountID("a.b"), username: Self.alice, environment: "login.windows.net",
                source: .msal)
            let agent = try PretendedAgent(at: path) { frame in
                let reply = RemoveAccount.Reply(removed: true, signOutPages: pages)
                return frame.answerLists(with: [account]) ?? frame.answer(RemoveAccount.self, with: .success(reply))
            }
            defer { agent.end() }
            let ended = try await f.ssoctl(["sign-out", "alice", "--browser"], variables: ["SSO_AGENT_SOCK": path])
            #expect(ended.output == "Signed out \(Self.alice).\n", "\(ended.output)")
            #expect(ended.errors.contains("no page is known"), "\(ended.errors)")
            #expect(!ended.errors.contains("open: "), "\(ended.errors)")
        }
    }
}

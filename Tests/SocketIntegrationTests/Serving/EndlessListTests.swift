internal import AgentTestSupport
internal import Dispatch
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// An agent that names a next page with every page, as a broken one could, or one of another user whom `SSO_AGENT_OWNER` names.
@Suite(.bounded) struct EndlessListTests {
    @Test func endsListsThatHaveNoEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            frame.answer(ListAccounts.self, with: .success(ListAccounts.Reply(accounts: [], next: "next")))
                ?? frame.answer(
                    ListCredentials.self, with: .success(ListCredentials.Reply(credentials: [], next: "next")))
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let accounts = await #expect(throws: TokenError.self) {
            try await client.listAccounts(ListAccounts(clientID: nil))
        }
        #expect(accounts?.code == .malformedMessage)
        let credentials = #expect(throws: TokenError.self) {
            try client.listCredentialsAndWait(ListCredentials())
        }
        #expect(credentials?.code == .malformedMessage)
    }

    /// An account with many tenant profiles continues on the next page; another one must not be taken for it.
    @Test func joinsTheTwoPartsOfAnAccountOnly() {
        func account(_ identifier: String?, _ username: String?, _ environment: String, _ realm: String) -> Account {
            let profile = TenantProfile(
                realm: realm, localAccountID: nil, username: nil, environment: environment, isHome: true)
            return Account(
                homeAccountID: identifier.flatMap(HomeAccountID.init), username: username, environment: environment,
                source: .msal, tenantProfiles: [profile])
        }
        func profiles(_ first: Account, _ next: Account) -> [[String]] {
            var accounts = [first]
            accounts.append(page: [next])
            return accounts.map { $0.tenantProfiles.map(\.realm) }
        }
        let alice = account("alice.home", "alice@contoso.com", "host-1", "1")
        #expect(profiles(alice, account("alice.home", "alice", "host-1", "2")) == [["1", "2"]])
        #expect(profiles(alice, account("bob.home", "alice@contoso.com", "host-1", "2")) == [["1"], ["2"]])
        #expect(profiles(alice, account("alice.home", "alice@contoso.com", "host-2", "2")) == [["1"], ["2"]])
        // Without identifiers, by their names.
        let named = account(nil, "alice@contoso.com", "host-1", "1")
        #expect(profiles(named, account(nil, "Alice@contoso.com", "host-1", "2")) == [["1", "2"]])
        #expect(profiles(named, account(nil, "bob@contoso.com", "host-1", "2")) == [["1"], ["2"]])
        #expect(profiles(named, account(nil, "alice@contoso.com", "host-2", "2")) == [["1"], ["2"]])
    }

    /// The agent makes a page while the app reads the one before.
    @Test func requestsAPageBeforeItTakesTheOneBefore() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let hasAskedForTheSecond = DispatchSemaphore(value: 0)
        let agent = try PretendedAgent(at: path) { frame in
            guard let request = try? frame.request(ListAccounts.self) else { return nil }
            if request.after != nil { hasAskedForTheSecond.signal() }
            let page = ListAccounts.Reply(accounts: [], next: request.after == nil ? "second" : nil)
            return ReplyFrame.encode(.success(page), to: ListAccounts.self, id: frame.id)
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        var pages = 0
        try client.waitForPages(of: ListAccounts(clientID: nil)) { _ in
            if pages == 0 { hasAskedForTheSecond.wait() }
            pages += 1
        }
        #expect(pages == 2)
    }

    /// A list that would take all of the app's memory has fewer pages than are taken.
    @Test func endsListsThatAreTooLong() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let profile = TenantProfile(
            realm: "home", localAccountID: nil, username: nil, environment: "host", isHome: true,
            idToken: String(repeating: "x", count: 100_000))
        let account = Account(
            homeAccountID: nil, username: "alice", environment: "host", source: .msal, tenantProfiles: [profile])
        let page = ListAccounts.Reply(accounts: [account], next: "next")
        let agent = try PretendedAgent(at: path) { $0.answer(ListAccounts.self, with: .success(page)) }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let (list, limits) = (ListAccounts(clientID: nil), ListLimits(bytes: 250_000))
        var pages = 0
        let error = await #expect(throws: TokenError.self) {
            try await client.pages(of: list, within: limits) { _ in pages += 1 }
        }
        #expect(error?.code == .malformedMessage && pages == 2)
        let waiting = #expect(throws: TokenError.self) {
            try client.waitForPages(of: list, within: limits) { _ in pages += 1 }
        }
        #expect(waiting?.code == .malformedMessage && pages == 4)
    }
}

internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel

/// The results of silent requests that the SDK keeps: when they are returned without the agent, and what ends them.
@Suite(.bounded) struct KeptResultsTests {
    /// A client whose clock is the agent's, and a result that it keeps.
    private struct Keeper {
        let client: AgentClient
        let request: AcquireTokenSilent

        init(_ f: AgentFixture, _ parameters: TokenParameters, _ account: AccountReference) async throws {
            client = AgentClient(socketPath: f.socketPath) { [clock = f.clock] in clock.now }
            request = AcquireTokenSilent(parameters: parameters, account: account)
            // The first call connects, so that the second one is the first to be kept.
            for _ in 0..<2 { _ = try await client.acquireTokenSilent(request) }
        }

        var kept: TokenResult? { client.keptResult(for: request) }
    }

    private func keeping(_ body: (AgentFixture, Keeper, AccountReference) async throws -> Void) async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let keeper = try await Keeper(f, f.parameters(), account)
            #expect(keeper.kept?.isFromCache == true)
            try await body(f, keeper, account)
        }
    }

    // MARK: What is kept

    @Test func returnsTheSameResultWithTheCorrelationIDOfEachRequest() async throws {
        try await keeping { f, keeper, _ in
            var request = keeper.request
            request.parameters.correlationID = CorrelationID()
            var asked = try await f.agent.acquireTokenSilent(request)
            #expect(try await keeper.client.acquireTokenSilent(request) == asked)
            asked.correlationID = keeper.request.parameters.correlationID
            #expect(keeper.kept == asked)
        }
    }

    @Test func asksForEveryOtherRequest() async throws {
        try await keeping { f, keeper, _ in
            var others: [AcquireTokenSilent] = []
            func add(_ change: (inout AcquireTokenSilent) -> Void) {
                var other = keeper.request
                change(&other)
                others.append(other)
            }
            let group = try #require(SharingGroup("other"))
            let (app, authority) = (try #require(ClientID("app-2")), try Authority("\(f.emulator.url)/organizations"))
            add { $0.forceRefresh = true }
            add { $0.parameters.claims = #"{"access_token":{}}"# }
            add { $0.parameters.capabilities = ["cp1"] }
            add { $0.parameters.scopes = ScopeSet(["Mail.Read"]) }
            add { $0.parameters.clientID = app }
            add { $0.parameters.sharingGroup = group }
            add { $0.parameters.authority = authority }
            add { $0.parameters.version = .v1 }
            add { $0.parameters.validatesAuthority = false }
            add { $0.parameters.redirectURI = "app://redirect" }
            add { $0.parameters.extraParameters = ["instance_aware": "true"] }
            add { $0.account = AccountReference(username: "alice@contoso.com") }
            add { $0.expirationBuffer = 10 }
            add { $0.allowsExtendedLifetime = true }
            for other in others { #expect(keeper.client.keptResult(for: other) == nil, "\(other)") }
        }
    }

    /// Requests of ADAL name users.
    @Test(arguments: ["alice@contoso.com", nil])
    func keepsTheResultForAUsernameUntilAnyAccountChanges(username: String?) async throws {
        try await AgentFixture.with(usernames: ["alice@contoso.com", "bob@contoso.com"]) { f in
            let parameters = try f.parameters(resource: "https://graph.example.com")
            try await f.signIn("alice@contoso.com", parameters)
            let keeper = try await Keeper(f, parameters, AccountReference(username: username))
            #expect(keeper.kept != nil)
            try await f.signIn("bob@contoso.com", parameters)
            #expect(keeper.kept == nil)
        }
    }

    @Test func keepsTheResultsOfOtherAccountsWhenOneChanges() async throws {
        try await AgentFixture.with(usernames: ["alice@contoso.com", "bob@contoso.com"]) { f in
            var keepers: [Keeper] = []
            var accounts: [AccountReference] = []
            for user in ["alice@contoso.com", "bob@contoso.com"] {
                accounts.append(try await f.signIn(user, f.parameters()).account.reference)
            }
            for account in accounts { keepers.append(try await Keeper(f, f.parameters(), account)) }
            _ = try await f.silent(f.parameters(), accounts[0], force: true)
            #expect(keepers[0].kept == nil)
            #expect(keepers[1].kept != nil)
        }
    }

    @Test func keepsNoMoreThanItsLimit() async throws {
        try await keeping { f, keeper, account in
            var requests: [AcquireTokenSilent] = []
            for buffer in 1...100 {
                let request = AcquireTokenSilent(
                    parameters: try f.parameters(), account: account, expirationBuffer: Int64(buffer))
                _ = try await keeper.client.acquireTokenSilent(request)
                #expect(keeper.client.keptResult(for: request) != nil)
                requests.append(request)
            }
            #expect(keeper.kept == nil)
            // As SECURITY.md says.
            #expect(requests.count { keeper.client.keptResult(for: $0) != nil } == 64)
        }
    }

    // MARK: What ends it

    /// A change that another connection makes.
    enum Change: CaseIterable {
        case signIn, signOut, signOutOfAllApps, renewal, removedCredential, import_, lock
    }

    private func make(_ change: Change, _ f: AgentFixture, _ account: AccountReference, _ export: Secret) async throws {
        let parameters = try f.parameters()
        switch change {
        case .signIn: try await f.signIn("alice@contoso.com", parameters)
        case .signOut, .signOutOfAllApps:
            _ = try await f.agent.removeAccount(
                RemoveAccount(
                    clientID: parameters.clientID, account: account, extent: change == .signOut ? .app : .account))
        case .renewal: _ = try await f.silent(parameters, account, force: true)
        case .removedCredential:
            let token = try await f.agent.listCredentials(ListCredentials()).first { $0.kind == .accessToken }
            // After random changes there may be none.
            guard let token else { return }
            _ = try await f.agent.removeCredential(RemoveCredential(id: token.id))
        case .import_: _ = try await f.agent.importCache(export, format: .msalJSON)
        case .lock: try await f.agent.lock()
        }
    }

    @Test(arguments: Change.allCases)
    func endsBeforeAChangeIsAcknowledged(change: Change) async throws {
        try await keeping { f, keeper, account in
            let export = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            #expect(keeper.kept != nil)
            try await make(change, f, account, export)
            #expect(keeper.kept == nil)
        }
    }

    @Test func endsWithTheTimesAtWhichTheAgentWouldDecideTheSame() async throws {
        try await keeping { f, keeper, _ in
            let kept = try #require(keeper.kept)
            f.clock.advance(by: kept.expiresOn - 300 - f.clock.now)
            #expect(keeper.kept != nil)
            f.clock.advance(by: 1)
            #expect(keeper.kept == nil)
        }
    }

    @Test func endsWhenTheClockIsSetBack() async throws {
        try await keeping { f, keeper, _ in
            f.clock.advance(by: -1)
            #expect(keeper.kept == nil)
            f.clock.advance(by: 1)
            // What was found not to hold is not used again.
            #expect(keeper.kept == nil)
        }
    }

    @Test func endsWithItsAgentAndIsKeptAgainWithTheNextOne() async throws {
        try await keeping { f, keeper, _ in
            try await f.restarted { _ in
                #expect(keeper.kept == nil)
                while keeper.kept == nil { _ = try await keeper.client.acquireTokenSilent(keeper.request) }
            }
            #expect(keeper.kept == nil)
        }
    }

    /// Whatever happens between two requests, a kept result is what the agent would answer now.
    @Test func returnsWhatTheAgentWouldAnswer() async throws {
        var seed = TestSeed()
        let users = ["alice@contoso.com", "bob@contoso.com"]
        try await AgentFixture.with(usernames: users) { f in
            var accounts: [AccountReference] = [AccountReference()]
            for user in users {
                accounts.append(try await f.signIn(user, f.parameters()).account.reference)
                accounts.append(AccountReference(username: user))
            }
            let export = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            let client = AgentClient(socketPath: f.socketPath) { [clock = f.clock] in clock.now }
            let requests = try accounts.flatMap { account in
                try [nil, "https://graph.example.com"].map { resource in
                    AcquireTokenSilent(parameters: try f.parameters(resource: resource), account: account)
                }
            }
            var hits = 0
            for round in 0..<150 {
                let user = Int.random(in: 0..<users.count, using: &seed)
                switch Int.random(in: 0..<10, using: &seed) {
                case 0: try? await make(.signOut, f, accounts[1 + 2 * user], export)
                case 1: try? await make(.renewal, f, accounts[1 + 2 * user], export)
                case 2: try? await make(.removedCredential, f, accounts[1], export)
                case 3: try await make(.import_, f, accounts[1], export)
                case 4:
                    try await make(.lock, f, accounts[1], export)
                    _ = try await f.agent.unlock(Unlock())
                case 5: f.clock.advance(by: Int64.random(in: -2000..<2000, using: &seed))
                case 6: try await f.signIn(users[user], f.parameters(resource: "https://graph.example.com"))
                case 7: try await f.signIn(users[user], f.parameters())
                default: break
                }
                for request in requests.shuffled(using: &seed).prefix(6) {
                    if let kept = client.keptResult(for: request) {
                        hits += 1
                        let asked = try? await f.agent.acquireTokenSilent(request)
                        #expect(kept == asked, "round \(round); \(seed)")
                    }
                    _ = try? await client.acquireTokenSilent(request)
                }
            }
            #expect(hits > 40, "\(hits) hits; \(seed)")
        }
    }

    // MARK: Who keeps nothing

    @Test func keepsNothingIfTheClientIsCreatedSo() async throws {
        try await keeping { f, keeper, _ in
            let client = AgentClient(socketPath: f.socketPath, keepsResults: false)
            for _ in 0..<3 { _ = try await client.acquireTokenSilent(keeper.request) }
            #expect(client.keptResult(for: keeper.request) == nil)
        }
    }

    @Test func keepsNothingIfTheAgentForbidsIt() async throws {
        try await AgentFixture.with(letsAppsKeepTokens: false) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let keeper = try await Keeper(f, f.parameters(), account)
            #expect(keeper.kept == nil)
        }
    }

    @Test func keepsNothingOfAPublishedSocket() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published { published in
                let client = AgentClient(socketPath: published.socketPath) { [clock = f.clock] in clock.now }
                let request = AcquireTokenSilent(
                    parameters: try f.parameters(), account: AccountReference(username: "alice@contoso.com"))
                for _ in 0..<3 { #expect(try await client.acquireTokenSilent(request).isFromCache) }
                #expect(client.keptResult(for: request) == nil)
            }
        }
    }

    /// A person allows each request by itself.
    @Test func keepsNothingThatAPersonHasToAllow() async throws {
        let folder = try TemporaryFolder()
        let askpass = try await folder.makeProgram("askpass", "echo asked >>'\(folder.path)/asked'")
        let rules = [
            PolicyRule(requests: .named(["acquire_token_silent"], includesOwn: false), effect: .confirm), .everything,
        ]
        try await AgentFixture.with(rules: rules, adjust: { $0.askpass = askpass }) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let keeper = try await Keeper(f, f.parameters(), account)
            #expect(keeper.kept == nil)
            let asked = try String(contentsOfFile: folder.file("asked"), encoding: .utf8)
            #expect(asked == "asked\nasked\n")
        }
    }

    /// As if the agent had been asked.
    @Test func returnsNothingToATaskThatIsCancelled() async throws {
        try await keeping { _, keeper, _ in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await keeper.client.acquireTokenSilent(keeper.request)
            }
            task.cancel()
            let error = await #expect(throws: TokenError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }

    /// The system's clock differs from that of the agent by years.
    @Test func keepsNothingIfItsClockIsNotTheAgents() async throws {
        try await keeping { f, keeper, _ in
            for _ in 0..<3 { _ = try await f.agent.acquireTokenSilent(keeper.request) }
            #expect(f.agent.keptResult(for: keeper.request) == nil)
        }
    }
}

internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// The guarantees of the SDK.
@Suite(.bounded) struct ClientTests {
    @Test func saysHowToStartAnAgentWhenNoneRuns() async throws {
        let folder = try TemporaryFolder()
        let client = AgentClient(socketPath: folder.file("agent.sock"))
        let failure = await #expect(throws: TokenError.self) { try await client.status() }
        #expect(failure?.code == .agentUnavailable)
        #expect(failure?.message.contains("start it with") == true)
        #expect(throws: TokenError.self) { try client.listAccountsAndWait(ListAccounts(clientID: nil)) }
    }

    @Test func refusesASocketPathThatIsTooLong() async throws {
        let client = AgentClient(socketPath: "/" + String(repeating: "x", count: 200))
        let failure = await #expect(throws: TokenError.self) { try await client.status() }
        #expect(failure?.message.contains("SSO_AGENT_SOCK") == true)
    }

    @Test func reconnectsSilentlyToAnAgentThatWasRestarted() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            try await f.restarted { f in
                let result = try await f.silent(f.parameters(), signedIn.account.reference)
                #expect(result.isFromCache)
                #expect(result.accessToken == signedIn.accessToken)
            }
        }
    }

    @Test func keepsManyCallsInFlightOnOneConnection() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let parameters = try f.parameters()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<500 { group.addTask { try await f.silent(parameters, reference).isFromCache } }
                for try await isFromCache in group { #expect(isFromCache) }
            }
        }
    }

    @Test(arguments: [false, true])
    func endsACallAtItsDeadline(onAnOpenConnection: Bool) async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let hasty = AgentClient(socketPath: f.socketPath, timeout: .milliseconds(50))
            // On a busy machine the first calls may run into the deadline as well.
            if onAnOpenConnection { while (try? await hasty.status()) == nil {} }
            let failure = await #expect(throws: TokenError.self) {
                try await hasty.acquireTokenSilent(
                    AcquireTokenSilent(parameters: f.parameters(), account: reference, forceRefresh: true))
            }
            #expect(failure?.code == .timedOut)
            f.emulator.control.release()
        }
    }

    /// A person may be asked about other requests first, for a minute each.
    @Test func waitsLongerForARequestThatAPersonMayHaveToConfirm() async throws {
        try await AgentFixture.with { f in
            // The first call of a client waits for its connection, so that no reply can arrive before the deadline.
            let hasty = (0..<3).map { _ in AgentClient(socketPath: f.socketPath, timeout: .zero) }
            let failure = await #expect(throws: TokenError.self) { try await hasty[0].status() }
            #expect(failure?.code == .timedOut)
            let path = f.folder.file("published.sock")
            let clientID = try #require(ClientID("app-1"))
            try await hasty[1].publishSocket(PublishSocket(path: path, clientIDs: [clientID]))
            let key = try await hasty[2].setKey(SetKey(source: .file))
            #expect(key.source == .file)
            try await f.agent.unpublishSocket(UnpublishSocket(name: path))
        }
    }

    @Test func endsACallWhenItsTaskIsCancelled() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let task = Task { try await f.silent(f.parameters(), reference, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            task.cancel()
            let failure = await #expect(throws: TokenError.self) { try await task.value }
            #expect(failure?.code == .cancelled)
            f.emulator.control.release()
        }
    }

    /// Calls are cancelled before they begin, while their callers read the reply, and while the reading thread waits for it. Whatever
    /// comes first, each call ends, and so do those after it.
    @Test func endsEveryCallThatIsCancelledAtAnyTime() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let parameters = try f.parameters()
            var outcomes = (replies: 0, cancelled: 0)
            for round in 0..<1500 {
                let task = Task { try await f.silent(parameters, reference) }
                // Some calls are the only ones, others have company.
                let other = round % 3 == 0 ? Task { try await f.silent(parameters, reference) } : nil
                for _ in 0..<round % 40 { await Task.yield() }
                task.cancel()
                do {
                    _ = try await task.value
                    outcomes.replies += 1
                } catch let error as TokenError {
                    #expect(error.code == .cancelled)
                    outcomes.cancelled += 1
                }
                if let other { #expect(try await other.value.isFromCache) }
            }
            #expect(outcomes.cancelled > 0)
            #expect(try await f.silent(parameters, reference).isFromCache)
        }
    }

    @Test func callsFromSynchronousCodeToo() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let app = try f.parameters().clientID
            let list = ListAccounts(clientID: app)
            #expect(try await offPool { try f.agent.listAccountsAndWait(list).count } == 1)
            let remove = RemoveAccount(clientID: app, account: reference)
            #expect(try await offPool { try f.agent.removeAccountAndWait(remove).removed })
            #expect(try await offPool { try f.agent.listAccountsAndWait(list).isEmpty })
        }
    }
}

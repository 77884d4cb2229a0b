internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import AuditLog
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// What the audit log has of requests through the socket.
@Suite(.bounded) struct AuditedRequestTests {
    /// Runs a test of an agent whose audit log has small files, and returns the lines of the log.
    private func lines(
        rules: [PolicyRule] = [.everything], hasNames: Bool = false, _ body: (AgentFixture) async throws -> Void
    ) async throws -> [AuditLine] {
        let folder = try TemporaryFolder()
        let path = folder.file("audit.log")
        try await AgentFixture.with(
            rules: rules,
            adjust: {
                $0.audit = .file(path: path, limit: 32 << 10)
                $0.auditsNames = hasNames
            }, body)
        return try AuditReader.lines(of: path)
    }

    /// Sends requests on one connection, a hundred at a time, and returns the codes of their failures.
    private func failures(_ socketPath: String, _ requests: [some WireRequest]) async throws -> [TokenError.Code?] {
        let frames = try requests.enumerated().map { try RequestFrame.encode($1, id: UInt64($0 + 1)) }
        return try await offPool {
            let peer = try RawPeer(socketPath)
            return try stride(from: 0, to: frames.count, by: 100).flatMap { start in
                let batch = frames[start..<min(start + 100, frames.count)]
                peer.write(Array(batch.joined()))
                return try batch.map { _ in try peer.reply()?.failure?.code }
            }
        }
    }

    /// Without a limit, the lines about 6,000 failures push the token's line out of the files.
    @Test func keepsTheLineOfATokenWhenAProcessRepeatsFailingRequests() async throws {
        let rules = [
            PolicyRule(requests: .named(["redeem_grant"], includesOwn: false), effect: .deny), .everything,
        ]
        let lines = try await lines(rules: rules) { f in
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account
            _ = try await f.silent(parameters, account.reference)
            let grants = try (0..<3000).map {
                RedeemGrant(
                    parameters: try f.parameters("app-\($0)"), kind: .refreshToken, grant: Secret("rt"))
            }
            #expect(try await failures(f.socketPath, grants).allSatisfy { $0 == .requestDenied })
            let unknown = (0..<3000).map { CompleteInteractive(sessionID: "session-\($0)") }
            #expect(try await failures(f.socketPath, unknown).allSatisfy { $0 == .sessionCanceled })
        }
        let events = lines.compactMap { $0["event"] }
        #expect(events.prefix(4) == ["start", "sign_in_begun", "sign_in", "token"], "\(events.prefix(4))")
        // The request that completes the sign-in does not name its app.
        #expect(lines.first { $0["event"] == "sign_in" }?["client_id"] == "app-1")
        #expect(events.suffix(2) == ["omitted", "stop"])
        let refusals = lines.filter { $0["event"] == "refusal" }
        let omitted = try #require(lines.first { $0["event"] == "omitted" })
        #expect(refusals.count == 60 && omitted["count"] == "2940")
        #expect(omitted["pid"] == refusals.first?["pid"] && omitted["executable"] == refusals.first?["executable"])
        #expect(!lines.contains { $0["request"] == "complete_interactive" && $0["outcome"] != "ok" })
    }

    /// A process could change something without a line otherwise.
    @Test func recordsASignInWhoseConnectionHasClosed() async throws {
        let lines = try await lines { f in
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let grant = RedeemGrant(parameters: try f.parameters(), kind: .refreshToken, grant: Secret("rt"))
            var peer: RawPeer? = try await offPool { try RawPeer.answered(f.socketPath) }
            try peer?.write(grant, id: 2)
            // A grant that is not being sent yet is abandoned with its connection.
            await f.emulator.control.waitForHeld(atLeast: 1)
            peer = nil
            for _ in 0..<2 { _ = try await f.agent.status() }
            f.emulator.control.release()
        }
        let signIns = lines.filter { $0["event"] == "sign_in" }
        #expect(signIns.map { $0["request"] } == ["redeem_grant"] && signIns.first?["client_id"] == "app-1", "\(lines)")
    }

    /// A process could keep the line out of the log until it reads replies, or until the agent has stopped.
    @Test func recordsASignInWhoseReplyCannotBeSent() async throws {
        let lines = try await lines { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let hit = AcquireTokenSilent(parameters: try f.parameters(), account: account)
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let peer = try RawPeer(f.socketPath)
            let grant = RedeemGrant(parameters: try f.parameters("app-2"), kind: .refreshToken, grant: Secret("rt"))
            try peer.write(grant, id: 2)
            await f.emulator.control.waitForHeld(atLeast: 1)
            try await peer.fill(with: hit, f)
            // The agent finds out that the socket has no room when it has another reply.
            for _ in 0..<3 { try peer.write(hit) }
            for _ in 0..<2 { _ = try await f.agent.status() }
            f.emulator.control.release()
            // The next agent has no audit log.
            try await f.restarted { _ in withExtendedLifetime(peer) {} }
        }
        #expect(lines.last?["event"] == "stop")
        #expect(lines.contains { $0["event"] == "sign_in" && $0["client_id"] == "app-2" }, "\(lines)")
    }

    /// An app that signs Alice out could have the log name Bob otherwise, or nobody if it removes everything.
    @Test func namesTheAccountOfASignOutAsTheCacheHasIt() async throws {
        let lines = try await lines(hasNames: true) { f in
            let parameters = try f.parameters()
            let app = parameters.clientID
            let alice = try await f.signIn("alice@contoso.com", parameters).account
            try await f.signIn("bob@contoso.com", parameters)
            let mislabelled = AccountReference(homeAccountID: alice.homeAccountID, username: "bob@contoso.com")
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: mislabelled))
            let byName = AccountReference(username: "BOB@contoso.com")
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: byName))
            try await f.signIn("alice@contoso.com", parameters)
            let credentials = try await f.agent.listCredentials(ListCredentials())
            let token = try #require(credentials.first { $0.kind == .refreshToken })
            _ = try await f.agent.removeCredential(RemoveCredential(id: token.id))
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: byName, extent: .everything))
        }
        let signIns = lines.filter { $0["event"] == "sign_in" }
        let (alice, bob) = (signIns.first?["account"], signIns.dropFirst().first?["account"])
        #expect(alice != nil && bob != nil && alice != bob)
        let signOuts = lines.filter { $0["event"] == "sign_out" }
        #expect(signOuts.map { $0["account"] } == [alice, bob, alice, nil])
        #expect(signOuts.map { $0["username"] } == ["alice@contoso.com", "bob@contoso.com", "alice@contoso.com", nil])
    }

    @Test func recordsTheIDTokensOfLists() async throws {
        let lines = try await lines { f in
            for user in ["alice@contoso.com", "bob@contoso.com"] { try await f.signIn(user, f.parameters()) }
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            let (one, two) = (ClientID("app-1"), ClientID("app-2"))
            let all = try await f.agent.listAccounts(ListAccounts(clientID: one))
            #expect(all.count == 2 && all.allSatisfy { $0.homeIDToken != nil })
            let current = try await f.agent.currentAccount(GetCurrentAccount(clientID: try #require(two)))
            #expect(current.account?.homeIDToken != nil)
            // Lists without ID tokens: of all apps, and of an app that has none.
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).count == 2)
            let other = ListAccounts(clientID: ClientID("app-3"), onlySignedIn: false)
            #expect(try await f.agent.listAccounts(other).count == 2)
        }
        let events = lines.filter { $0["event"] == "id_token" }
        #expect(events.map { $0["request"] } == ["list_accounts", "get_current_account"])
        #expect(events.map { $0["client_id"] } == ["app-1", "app-2"])
        #expect(events.map { $0["count"] } == ["2", nil])
        #expect(events.allSatisfy { $0["pid"] != nil && $0["outcome"] == "ok" })
        // A list of several accounts names none.
        let alice = lines.first { $0["event"] == "sign_in" }?["account"]
        #expect(alice != nil && events.map { $0["account"] } == [nil, alice])
    }

    @Test func recordsTheIDTokensAtAPublishedSocket() async throws {
        let lines = try await lines { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published(label: "build") { client in
                let list = ListAccounts(clientID: ClientID("app-1"), onlySignedIn: true)
                for _ in 0..<100 {
                    let accounts = try await client.listAccounts(list)
                    #expect(accounts.first?.homeIDToken != nil)
                }
            }
        }
        let events = lines.filter { $0["event"] == "id_token" }
        #expect(events.allSatisfy { $0["socket"] == "build" && $0["account"] != nil })
        // Equal lists share a line.
        #expect(events.reduce(0) { $0 + (Int($1["count"] ?? "1") ?? 0) } == 100)
        #expect(events.count < 100)
    }
}

internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import AuditLog
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// The agent's measurements, as `get_status` and scrapers get them.
@Suite(.bounded) struct MetricsTests {
    private func withMetrics(
        rules: [PolicyRule] = [.everything], userID: UInt32? = nil,
        _ body: (AgentFixture, _ path: String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("metrics.sock")
        try await AgentFixture.with(
            rules: rules,
            adjust: {
                $0.metricsSocketPath = path
                if let userID { $0.policy = PeerPolicy(userID: userID, rules: rules) }
            }
        ) { f in try await body(f, path) }
    }

    /// What `curl` gets, with the status and the type of the content in the last line.
    private func get(_ target: String, at path: String, _ options: [String] = []) async throws -> (Int32, String) {
        let ended = try await TestProcess(
            "/usr/bin/env",
            ["curl", "-s", "--unix-socket", path, "-w", "%{http_code} %{content_type}", "http://localhost\(target)"]
                + options
        ).finish()
        return (ended.status, ended.output)
    }

    /// The measurements with a name, by their labels' values in the order of the labels' names.
    private func values(_ f: AgentFixture, _ name: String) async throws -> [String: Int64] {
        let metrics = try await f.agent.status(includesMetrics: true).metrics.filter { $0.name == name }
        return Dictionary(
            uniqueKeysWithValues: metrics.map {
                ($0.labels.sorted { $0.key < $1.key }.map(\.value).joined(separator: " "), $0.value)
            })
    }

    /// The clock may be set after the start, as on a machine whose clock stops when it is off.
    @Test func countsTheTimeSinceTheStartRegardlessOfTheClock() async throws {
        try await AgentFixture.with { f in
            f.clock.advance(by: 315_360_000)
            let status = try await f.agent.status()
            #expect((0..<3600).contains(status.uptimeSeconds))
        }
    }

    /// A byte that is marked as urgent (`MSG_OOB`) is none that a library may expect.
    @Test func servesOthersAfterAByteOutOfBand() async throws {
        try await withMetrics { f, path in
            let peer = try await offPool { try RawPeer(path) }
            peer.write([0], outOfBand: true)
            #expect(try await get("/metrics", at: path).0 == 0)
            peer.finishWriting()
            try await offPool { peer.waitUntilClosed() }
            _ = try await f.agent.status()
        }
    }

    @Test func countsRequestsByNameAndOutcome() async throws {
        try await AgentFixture.with { f in
            #expect(try await f.agent.status().metrics.isEmpty)
            let (requests, tokens) = ("sso_agent_requests_total", "sso_agent_token_requests_total")
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account
            let peer = try RawPeer(f.socketPath)
            let silent = AcquireTokenSilent(parameters: try f.parameters(), account: account.reference)
            for _ in 0..<5 { _ = try await peer.ask(silent) }
            _ = try await f.silent(f.parameters(), account.reference, force: true)
            f.emulator.control.inject(Fault { ($0.grant, $0.error) = (.refreshToken, "invalid_grant") })
            await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account.reference, force: true)
            }
            let counted = try await values(f, requests)
            #expect(counted["hit acquire_token_silent"] == 5)
            #expect(counted["renewed acquire_token_silent"] == 1)
            #expect(counted["interactionRequired acquire_token_silent"] == 1)
            #expect(counted["ok complete_interactive"] == 1)
            #expect(counted["ok begin_interactive"] == 1)
            let redeemed = try await values(f, tokens)
            #expect(redeemed == ["authorization_code ok": 1, "refresh_token ok": 1, "refresh_token invalidGrant": 1])
            #expect(
                try await values(f, "sso_agent_token_request_seconds") == ["authorization_code": 1, "refresh_token": 2])
        }
    }

    /// After a start, the first request for an account has its token read from the store.
    @Test func countsAHitWhoseTokenIsReadFromTheStore() async throws {
        try await AgentFixture.with { f in
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            try await f.restarted { (f) async throws in
                // The store is loaded: the request is not answered from a part of it.
                #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).count == 1)
                #expect(try await f.silent(parameters, account).isFromCache)
                let counted = try await values(f, "sso_agent_requests_total")
                #expect(counted["hit acquire_token_silent"] == 1)
                #expect(counted["renewed acquire_token_silent"] == nil)
            }
        }
    }

    /// The first request is decided, and 130 of the others repeat it.
    @Test func measuresEach64thRepeatedHit() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account
            let peer = try RawPeer(f.socketPath)
            let silent = AcquireTokenSilent(parameters: try f.parameters(), account: account.reference)
            for _ in 0..<64 { _ = try await peer.ask(silent) }
            #expect(try await values(f, "sso_agent_hit_seconds").isEmpty)
            for _ in 0..<67 { _ = try await peer.ask(silent) }
            #expect(try await values(f, "sso_agent_hit_seconds") == ["": 2])
            let metric = try #require(
                try await f.agent.status(includesMetrics: true).metrics.first { $0.name == "sso_agent_hit_seconds" })
            let durations = try #require(metric.durations)
            #expect(durations.sum > 0 && durations.bounds.first == 5 && durations.counts.reduce(0, +) <= 2)
        }
    }

    @Test func measuresTheStoreTheCacheAndTheConnections() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.signIn("bob@contoso.com", f.parameters())
            let peer = try RawPeer(f.socketPath)
            _ = try await peer.ask(GetStatus())
            #expect(try await values(f, "sso_agent_accounts") == ["": 2])
            #expect(try await values(f, "sso_agent_credentials") == ["": 4])
            #expect(try await values(f, "sso_agent_store_loaded") == ["": 1])
            #expect(try await values(f, "sso_agent_store_unsaved_changes") == ["": 0])
            #expect(try await values(f, "sso_agent_connections") == ["": 2])
            #expect(try await values(f, "sso_agent_connections_accepted_total") == ["": 2])
            let (writes, commits, times) = (
                try await values(f, "sso_agent_store_writes_total")[""] ?? 0,
                try await values(f, "sso_agent_store_commits_total")["ok"] ?? 0,
                try await values(f, "sso_agent_store_commit_seconds")[""] ?? 0
            )
            #expect(commits > 0 && writes >= commits && times == commits)
        }
    }

    @Test func countsFramesThatAreNoRequests() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            peer.write([0, 0, 0, 3, 0xFF, 0xFF, 0xFF])
            _ = try await offPool { try peer.reply() }
            #expect(try await values(f, "sso_agent_requests_total")["malformedMessage unknown"] == 1)
        }
    }

    /// It serves some requests only, and knows the names of the others.
    @Test func countsWhatAPublishedSocketRefusesByTheNameOfTheRequest() async throws {
        try await AgentFixture.with { f in
            try await f.published { client in
                let code = try await offPool {
                    let peer = try RawPeer(client.socketPath)
                    try peer.write(ListCredentials())
                    return try peer.reply()?.failure?.code
                }
                #expect(code == .requestDenied)
            }
            let counted = try await values(f, "sso_agent_requests_total")
            #expect(counted["requestDenied list_credentials"] == 1, "\(counted)")
            #expect(counted["requestDenied unknown"] == nil)
        }
    }

    @Test func answersScrapersOnASocketOfTheUserAlone() async throws {
        try await withMetrics { f, path in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.timers.advance(by: 1)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let (status, output) = try await get("/metrics", at: path)
            #expect(status == 0)
            #expect(output.hasSuffix("\n200 text/plain; version=0.0.4; charset=utf-8"), "\(output)")
            #expect(output.contains("\nsso_agent_accounts 1\n"))
            #expect(output.contains("sso_agent_info{version=\"\(try await f.agent.status().version)\"} 1\n"))
            #expect(output.contains("sso_agent_event_loop_delay_seconds_count 1\n"))
            #expect(!output.contains("alice") && !output.contains("app-1"))
            #expect(try await get("/other", at: path).1.hasSuffix("404 text/plain; charset=utf-8"))
            #expect(try await get("/metrics", at: path, ["-X", "POST"]).1.hasSuffix("405 text/plain; charset=utf-8"))
        }
    }

    @Test func asksTheAccessPolicyAsForTheStatus() async throws {
        let rules = [PolicyRule(requests: .named(["get_status"], includesOwn: false), effect: .deny), .everything]
        try await withMetrics(rules: rules) { _, path in
            let (status, output) = try await get("/metrics", at: path)
            #expect(status == 0 && output.hasSuffix("403 text/plain; charset=utf-8"), "\(output)")
            #expect(!output.contains("sso_agent_accounts"))
        }
    }

    @Test func servesNoOtherUser() async throws {
        try await withMetrics(userID: geteuid() + 1) { _, path in
            let (status, output) = try await get("/metrics", at: path)
            #expect(status != 0 && output.hasPrefix("000"), "\(output)")
        }
    }

    /// As at the agent's own socket.
    @Test func recordsThatItRefusesAnotherUser() async throws {
        let log = try TemporaryFolder()
        let folder = try TemporaryFolder()
        let path = folder.file("metrics.sock")
        try await AgentFixture.with(
            adjust: {
                $0.metricsSocketPath = path
                $0.policy = PeerPolicy(userID: geteuid() + 1, rules: [])
                $0.audit = .file(path: log.file("audit.log"), limit: 1 << 20)
            }
        ) { _ in
            let (_, output) = try await get("/metrics", at: path)
            #expect(output.hasPrefix("000"), "\(output)")
        }
        let lines = try String(contentsOfFile: log.file("audit.log"), encoding: .utf8).split(separator: "\n")
        let refusals = lines.filter { $0.contains("\"refusal\"") }
        #expect(refusals.count == 1 && refusals[0].contains("peerNotAuthorized"), "\(lines)")
    }

    @Test func closesAConnectionWithALongRequest() async throws {
        try await withMetrics { _, path in
            let (status, output) = try await get(
                "/metrics", at: path, ["-H", "X: \(String(repeating: "x", count: 20_000))"])
            #expect(status != 0 && output.hasPrefix("000"), "\(output)")
        }
    }

    /// The latest connections of a process replace its earlier ones, and leave those of the agent's own socket alone. Otherwise each eight
    /// would wait for the time limit of a connection: for longer, in all, than a test may take.
    @Test func limitsConnections() async throws {
        try await withMetrics { f, path in
            try await offPool {
                var peers: [RawPeer] = []
                for _ in 0..<1200 {
                    peers.append(try RawPeer(path))
                    if peers.count > 8 { peers.removeFirst().waitUntilClosed() }
                }
            }
            #expect(try await f.agent.status().accounts == 0)
        }
    }

    /// The scraper is a process of its own.
    @Test func answersAScraperWhileAnotherProcessHasTheOtherConnections() async throws {
        try await withMetrics { _, path in
            let peers = try (0..<8).map { _ in try RawPeer(path) }
            let (status, output) = try await get("/metrics", at: path)
            #expect(status == 0 && output.hasSuffix("200 text/plain; version=0.0.4; charset=utf-8"), "\(output)")
            withExtendedLifetime(peers) {}
        }
    }

    /// The places of 400 requests would be later than the time limit of a connection.
    @Test func answersAScraperAfterRequestsThatOthersHaveGivenUp() async throws {
        try await withMetrics { _, path in
            try await offPool {
                for _ in 0..<400 {
                    let peer = try RawPeer(path)
                    peer.write(Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
                    peer.finishWriting()
                    peer.waitUntilClosed()
                }
            }
            let (status, output) = try await get("/metrics", at: path)
            #expect(status == 0 && output.hasSuffix("200 text/plain; version=0.0.4; charset=utf-8"), "\(output)")
        }
    }

    @Test func removesTheSocketWhenTheAgentStops() async throws {
        var socket = ""
        try await withMetrics { _, path in
            socket = path
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func refusesAnUnsafeFolder() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let error = await #expect(throws: TokenError.self) {
            try await AgentFixture.with(adjust: { $0.metricsSocketPath = folder.file("metrics.sock") }) { _ in }
        }
        #expect(error?.code == .agentUnavailable)
    }
}

internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// The measurements of the restricted agent: its socket, and the table and the JSON of `ssoctl`.
@Suite(.bounded) struct MetricsProcessTests {
    private func scrape(_ path: String) async throws -> (status: Int32, output: String) {
        let ended = try await TestProcess(
            "/usr/bin/env", ["curl", "-sS", "--unix-socket", path, "http://localhost/metrics"]
        ).finish()
        return (ended.status, ended.output)
    }

    @Test func servesThemAtTheSocketOfTheConfiguration() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("metrics/agent.sock")
            try f.configure("[metrics]\nsocket = \"\(path)\"\n")
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let folder = try FileManager.default.attributesOfItem(atPath: f.folder.file("metrics"))
            #expect(folder[.posixPermissions] as? Int == 0o700)
            let (status, output) = try await scrape(path)
            #expect(status == 0)
            #expect(output.contains("sso_agent_requests_total{outcome=\"ok\",request=\"list_accounts\"} 1\n"))
            #expect(output.contains("sso_agent_store_loaded 1\n"))

            try f.configure("[metrics]\nsocket = \"\(path).other\"\n")
            let reload = try await f.json(["reload"])
            #expect("\(reload)".contains("metrics.socket"))
            #expect(try await scrape(path).status == 0)

            agent.process.signal(SIGTERM)
            _ = try await agent.process.finish()
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func servesThemAtTheSocketOfTheOption() async throws {
        try await AgentProcessFixture.with { f in
            try f.configure("[metrics]\nsocket = \"\(f.folder.file("unused.sock"))\"\n")
            let path = f.folder.file("option.sock")
            let agent = try await f.agent(["--metrics-socket", path])
            #expect(try await scrape(path).status == 0)
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("unused.sock")))
            _ = agent
        }
    }

    /// No app may connect to an agent that does not start.
    @Test func doesNotTakeTheSocketOfAnotherAgent() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("metrics.sock")
            let agent = try await f.agent(["--metrics-socket", path])
            let (socket, state) = (f.folder.file("second/agent.sock"), f.folder.file("second-state"))
            let second = try await f.run(
                "sso-agent", ["--socket", socket, "--state-dir", state, "--metrics-socket", path])
            #expect(second.status == 1)
            #expect(
                second.errors.contains("(process \(agent.processID)) already listens on \(path)"), "\(second.errors)")
            #expect(!second.errors.contains("listening on"))
            #expect(!FileManager.default.fileExists(atPath: socket))
            #expect(try await scrape(path).status == 0)
        }
    }

    @Test(arguments: ["run/agent.sock", "run/./agent.sock", "state/../run/agent.sock"])
    func doesNotTakeTheAgentsOwnSocket(path: String) async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await f.run("sso-agent", ["--metrics-socket", f.folder.file(path)])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("is the agent's socket"), "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: f.socketPath))
        }
    }

    @Test func namesTheLineThatHasTheAgentsOwnSocket() async throws {
        try await AgentProcessFixture.with { f in
            try f.configure("[metrics]\nsocket = \"\(f.socketPath)\"\n")
            for arguments in [[], ["--check-config"]] {
                let ended = try await f.run("sso-agent", arguments)
                #expect(ended.status == 1)
                #expect(ended.errors.contains("config.toml:2: metrics.socket names \(f.socketPath)"), "\(ended.errors)")
            }
        }
    }

    /// As if a file had been named by mistake.
    @Test(arguments: ["--metrics-socket", "--socket"]) func leavesNoLockBesideAFileThatIsNoSocket(
        option: String
    ) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("report.txt")
            try "text".write(toFile: path, atomically: false, encoding: .utf8)
            let ended = try await f.run("sso-agent", [option, path])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("\(path) exists and is not a socket"), "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: "\(path).lock"))
        }
    }

    @Test func recordsARefusalInTheAuditLog() async throws {
        let rules = "[[rule]]\nrequests = [\"get_status\"]\neffect = \"deny\"\n"
        try await AgentProcessFixture.with(rules: rules) { f in
            let path = f.folder.file("metrics.sock")
            let agent = try await f.agent(["--metrics-socket", path])
            #expect(try await scrape(path).output.contains("does not allow get_status"))
            agent.process.signal(SIGTERM)
            let log = try await agent.process.finish().errors
            #expect(log.contains("denied") && log.contains("get_status"), "\(log)")
            let audit = try await f.run("ssoctl", ["audit", "--json", "--file", f.folder.file("state/audit.log")])
                .output
            let refusal = try #require(audit.split(separator: "\n").first { $0.contains("\"refusal\"") })
            #expect(refusal.contains("get_status") && refusal.contains("requestDenied"), "\(refusal)")
        }
    }

    @Test func doesNotStartWithASocketInAFolderOfOthers() async throws {
        try await AgentProcessFixture.with { f in
            let folder = f.folder.file("open")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let ended = try await f.run("sso-agent", ["--metrics-socket", "\(folder)/metrics.sock"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("chmod"), "\(ended.errors)")
        }
    }

    @Test func showsThemAsATableAndAsJSON() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            #expect(try await f.json(["status"])["metrics"] == nil)
            let table = try await f.ssoctl(["status", "--verbose"]).output
            let lines = table.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
            #expect(lines.contains("MEASUREMENT OF VALUE"), "\(table)")
            #expect(lines.contains("accounts 1"), "\(table)")
            #expect(lines.contains("requests complete_interactive: ok 1"), "\(table)")
            #expect(
                lines.contains { $0.wholeMatch(of: #/store commit \d+, half ≤ [0-9.]+ ms, 99 % ≤ [0-9.]+ ms/#) != nil })

            let printed = try await f.json(["status", "-v"])
            let metrics = try #require(printed["metrics"] as? [[String: Any]])
            func metric(_ name: String) throws -> [String: Any] {
                try #require(metrics.first { $0["name"] as? String == name })
            }
            #expect(try metric("sso_agent_accounts")["value"] as? Int == 1)
            let time = try metric("sso_agent_token_request_seconds")
            #expect(time["kind"] as? String == "histogram" && time["value"] as? Int == 1)
            #expect((time["labels"] as? [String: String])?["grant"] == "authorization_code")
            #expect((time["sumSeconds"] as? Double ?? 0) > 0)
            let buckets = try #require(time["buckets"] as? [[String: Any]])
            #expect(buckets.count == 17 && buckets.last?["count"] as? Int == 1)
            _ = agent
        }
    }
}

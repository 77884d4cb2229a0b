internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// `ssoctl watch`, and events of the agent's executable.
@Suite(.bounded) struct WatchTests {
    private static let alice = "alice@contoso.com"

    private func events(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test func printsALineForEachEventUntilItIsInterrupted() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let watch = try TestProcess("ssoctl", ["watch"], environment: f.environment)
            try await watch.waitForOutput("store open")
            try await f.addApp("mail", clientID: "app-1")
            try await f.signIn(app: "mail", Self.alice)
            #expect(try await watch.waitForOutput("\n").contains("account added         \(Self.alice)\n"))
            try await f.ssoctl(["sign-out", "alice", "--app", "mail"])
            #expect(try await watch.waitForOutput("\n").contains("signed out of app-1"))
            watch.signal(SIGINT)
            let ended = try await watch.finish()
            #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended.errors)")
            _ = agent
        }
    }

    /// The command does not wait for the next event, which nobody would read.
    @Test func endsWhenTheReaderOfItsOutputHasEnded() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let script = "\"$0\" watch | head -1; echo \"${PIPESTATUS[0]}\""
            let ended = try await f.run("/usr/bin/env", ["bash", "-c", script, Executable.path("ssoctl")])
            #expect(ended.output.hasSuffix("watching from now on\n0\n") && ended.errors.isEmpty, "\(ended)")
            _ = agent
        }
    }

    @Test func printsAnObjectForEachEvent() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let watch = try TestProcess(
                "ssoctl", ["watch", "--json", "--client-id", "app-1"], environment: f.environment)
            var output = try await watch.waitForOutput("open")
            let account = try await f.signIn(Self.alice, f.parameters()).account
            output += try await watch.waitForOutput("accountAdded")
            try await f.ssoctl(["lock"])
            output += try await watch.waitForOutput("locked")
            watch.signal(SIGTERM)
            let ended = try await watch.finish()
            #expect(ended.status == 0)
            let told = try events(output + ended.output)
            #expect(
                told.map { $0["event"] as? String }
                    == ["resynchronise", "storeChanged", "accountAdded", "storeChanged"])
            #expect(told.map { $0["store"] as? String } == [nil, "open", nil, "locked"])
            let named = try #require(told[2]["account"] as? [String: Any])
            #expect(named["username"] as? String == Self.alice)
            #expect(named["identifier"] as? String == account.homeAccountID?.text)
            #expect(told.allSatisfy { $0["time"] is Int })
            #expect(!output.contains("eyJ"))
            _ = agent
        }
    }

    @Test func notifiesOfASignInThatIsDue() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let account = try await f.signIn(Self.alice, f.parameters()).account
            try FileManager.default.createDirectory(atPath: f.folder.file("bin"), withIntermediateDirectories: true)
            _ = try await f.folder.makeProgram("bin/notify-send", "echo \"$@\" >> '\(f.folder.file("notified"))'")
            let path = "\(f.folder.file("bin")):\(f.environment["PATH"] ?? "")"
            let watch = try TestProcess(
                "ssoctl", ["watch", "--notify"], environment: f.environment.merging(["PATH": path]) { $1 })
            try await watch.waitForOutput("store open")
            f.emulator.control.inject(
                Fault {
                    ($0.grant, $0.error, $0.suberror) = (.refreshToken, "invalid_grant", "basic_action")
                })
            let renewal = AcquireTokenSilent(
                parameters: try f.parameters(), account: account.reference, forceRefresh: true)
            await #expect(throws: TokenError.self) {
                try await AgentClient(socketPath: f.socketPath).acquireTokenSilent(renewal)
            }
            let line = try await watch.waitForOutput("→")
            #expect(line.contains("sign-in due for app-1") && line.contains(Self.alice))
            // The account's provider is not the public cloud, and is reached without TLS.
            let tenant = try #require(account.homeAccountID?.tenantID)
            let command =
                "ssoctl sign-in --client-id app-1 --scope User.Read --authority \(f.url)/\(tenant) --login-hint \(Self.alice)"
            let rest = try await line.hasSuffix("\n") ? "" : watch.waitForOutput("\n")
            #expect((line + rest).contains("→ \(command)\n"), "\(line + rest)")
            // Written before the next event is printed.
            try await f.ssoctl(["lock"])
            try await watch.waitForOutput("store locked")
            watch.signal(SIGINT)
            #expect(try await watch.finish().status == 0)
            let notified = try String(contentsOfFile: f.folder.file("notified"), encoding: .utf8)
            // Other users can read the arguments of a program.
            #expect(notified.contains("--app-name=sso-agent -- sign-in due for app-1") && !notified.contains("alice"))
            _ = agent
        }
    }

    @Test func continuesWhenTheAgentIsKilledAndStartedAgain() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            try await f.waitUntilOpen()
            let watch = try TestProcess("ssoctl", ["watch", "--json"], environment: f.environment)
            try await watch.waitForOutput("open")
            try await first.process.killHard()
            let second = try await f.agent()
            try await watch.waitForOutput("open")
            try await f.signIn(Self.alice, f.parameters())
            try await watch.waitForOutput(Self.alice)
            watch.signal(SIGINT)
            #expect(try await watch.finish().status == 0)
            _ = second
        }
    }

    /// A published socket serves the events of one app.
    @Test func namesTheCommandForAnAppAtAPublishedSocket() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("calendar", clientID: "app-2")
            try await f.addApp("mail", clientID: "app-1")
            try await f.signIn(Self.alice, f.parameters())
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path).status == 0)
            let refused = try await f.at(path, ["watch", "--notify"])
            #expect(refused.status == 1)
            #expect(refused.errors.hasSuffix("\n  → ssoctl watch --app mail --notify\n"), "\(refused.errors)")
            _ = agent
        }
    }

    @Test func failsWithoutAnAgent() async throws {
        try await AgentProcessFixture.with { f in
            let ended = try await f.ssoctl(["watch", "--json"], status: 4)
            let failure = try #require(try events(ended.output).first?["error"] as? [String: Any])
            #expect(failure["reason"] as? String == "agent")
        }
    }
}

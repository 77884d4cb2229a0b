internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Commands as scripts use them: several at the same time, and with readers that end early.
@Suite(.bounded) struct ScriptUseTests {
    /// Two commands for each of four names: one of them adds the app, and the other one is told that it exists.
    @Test func addsEachAppOnceAlsoIfSeveralCommandsDoAtTheSameTime() async throws {
        try await AgentProcessFixture.with { f in
            let commands = try (0..<8).map { number in
                let options = ["--client-id", "client-\(number)", "--authority", "\(f.url)/common"]
                return try TestProcess(
                    "ssoctl", ["app", "add", "app-\(number / 2)"] + options, environment: f.environment)
            }
            var statuses = [[Int32]](repeating: [], count: 4)
            for (number, command) in commands.enumerated() {
                let ended = try await command.finish()
                statuses[number / 2].append(ended.status)
                #expect(ended.status == 0 || ended.errors.contains("add --force to replace it"), "\(ended)")
            }
            #expect(statuses.map { $0.sorted() } == [[Int32]](repeating: [0, 1], count: 4))
            let apps = try #require(await f.json(["app", "list"])["apps"] as? [[String: Any]])
            #expect(apps.compactMap { $0["name"] as? String } == ["app-0", "app-1", "app-2", "app-3"])
            // The first one that was added.
            #expect(apps.count { $0["isDefault"] as? Bool == true } == 1, "\(apps)")
        }
    }

    /// A job may have the configuration, the store and the socket in one folder, which the agent locks.
    @Test func addsAnAppInTheFolderOfTheStoreWhileTheAgentRuns() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent(variables: ["SSO_AGENT_STATE_DIR": f.folder.path])
            try await f.waitUntilOpen()
            try await f.addApp("graph", clientID: "app-1")
            try await f.ssoctl(["use", "graph"])
            try await f.ssoctl(["app", "remove", "graph"])
            withExtendedLifetime(agent) {}
        }
    }

    /// It may write once more before it is told that its reader has ended. Repeated, since it mostly is told first.
    @Test func endsWithStatus0IfTheReaderOfALogHasEnded() async throws {
        try await AgentProcessFixture.with { f in
            let log = f.folder.file("audit.log")
            let lines = """
                from hashlib import sha256
                hash = "0" * 64
                for number in range(1, 1001):
                    line = '{"seq":%d,"time":"2026-01-01T00:00:00Z","event":"token","prev":"%s"}' % (number, hash)
                    print(line)
                    hash = sha256(line.encode()).hexdigest()
                """
            try await f.run("/usr/bin/env", ["python3", "-c", lines]).output
                .write(toFile: log, atomically: false, encoding: .utf8)
            let script = """
                for _ in $(seq 20); do
                    "$0" audit --follow --json --file "$1" | head -c 1 >/dev/null
                    echo "${PIPESTATUS[0]}"
                done | sort -u
                """
            let ended = try await f.run("/usr/bin/env", ["bash", "-c", script, Executable.path("ssoctl"), log])
            #expect(ended.output == "0\n" && ended.errors.isEmpty, "\(ended)")
        }
    }
}

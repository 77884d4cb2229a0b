internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// What people read fits the width of their terminal; programs read the same at any width.
@Suite(.bounded) struct TerminalWidthTests {
    private func shown(
        _ f: AgentProcessFixture, _ arguments: [String], columns: Int, _ steps: [(wait: String, type: String)] = []
    ) async throws -> [Substring] {
        let variables = ["TERMINAL_COLUMNS": "\(columns)", "TERM": "dumb"]
        let output = try await f.onTerminal(arguments, steps, variables: variables).finish().output
        return output.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: [60, 80]) func breaksTextAtBlanks(columns: Int) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let asked = try await shown(f, ["init"], columns: columns, [("Client ID: ", "\u{4}")])
            #expect(asked.contains { $0.hasPrefix("Microsoft Entra ID issues tokens") })
            #expect(asked.allSatisfy { $0.count <= columns }, "\(asked)")
            // Without which a sign-in with a code fails at Entra ID.
            #expect(asked.joined(separator: " ").contains("“Allow public client flows”"), "\(asked)")
            let refused = try await shown(f, ["app", "add", "a", "--client-id", "b"], columns: columns)
            #expect(refused.count > 2 && refused.allSatisfy { $0.count <= columns }, "\(refused)")
            let help = try await shown(f, ["sign-out", "--help"], columns: columns)
            #expect(help.contains { $0.hasPrefix("USAGE: ssoctl sign-out [<account>] ") }, "\(help)")
            #expect(help.allSatisfy { $0.count <= columns }, "\(help)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: [302, 503]) func breaksTheRemedyOfADoctor(status: Int) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .openIDConfiguration
                    ($0.garbage, $0.status, $0.count) = (status < 500, status, 0)
                })
            // Wide enough for the URL of the discovery document.
            let lines = try await shown(f, ["doctor"], columns: 80).drop { !$0.hasPrefix("FAIL token endpoint") }
            #expect(lines.contains { $0.hasPrefix("     → ") } && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
            let remedy = lines.drop { !$0.hasPrefix("     → ") }.prefix { $0.hasPrefix("     ") }
            // Broken only where a line is full.
            #expect(remedy.dropLast().allSatisfy { $0.count > 60 }, "\(remedy)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func leavesOutColumnsForWhichThereIsNoRoom() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            let narrow = try await shown(f, ["accounts"], columns: 80)
            #expect(narrow[0].contains("STATE") && !narrow[0].contains("TENANT"), "\(narrow)")
            #expect(narrow.allSatisfy { $0.count <= 80 } && narrow.contains { $0.contains("--verbose") }, "\(narrow)")
            let phone = try await shown(f, ["accounts"], columns: 40)
            #expect(phone[0].contains("STATE") && phone.allSatisfy { $0.count <= 40 }, "\(phone)")
            let metrics = try await shown(f, ["status", "--verbose"], columns: 60)
            #expect(metrics.dropFirst(4).allSatisfy { $0.count <= 60 } && metrics.count > 10, "\(metrics)")
            let wider = try await shown(f, ["accounts"], columns: 130)
            #expect(wider[0].contains("TENANT") && !wider[0].contains("IDENTIFIER"), "\(wider)")
            let all = try await f.ssoctl(["accounts"]).output
            #expect(all.contains("IDENTIFIER") && all.contains("TENANT"), "\(all)")
            #expect(try await shown(f, ["accounts"], columns: 300).joined(separator: "\n") == all)
            let verbose = try await shown(f, ["accounts", "-v"], columns: 80)
            #expect(verbose[0].contains("IDENTIFIER"), "\(verbose)")
            let apps = try await shown(f, ["app"], columns: 50)
            #expect(apps[0].contains("AUTHORITY") && !apps[0].contains("CLIENT ID"), "\(apps)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func leavesTokensAndJSONAsTheyAre() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            for arguments in [
                ["token", "--header"], ["token", "--decode"], ["app", "--json"], ["token", "x", "--json"],
            ] {
                let plain = try await TestProcess("ssoctl", arguments, environment: f.environment).finish().output
                #expect(try await shown(f, arguments, columns: 40).joined(separator: "\n") == plain, "\(arguments)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// Of a countdown on two lines, only the second could be erased.
    @Test func shortensTheCountdown() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try f.onTerminal(
                ["sign-in", "--print-url"], [("left", "\u{3}")], variables: ["TERMINAL_COLUMNS": "40"])
            let ended = try await command.finish()
            #expect(ended.status == 130 && ended.output.contains("Waiting for the sign-in: "), "\(ended.output)")
            #expect(!ended.output.contains("(Ctrl-C"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesTheSetUpIfNoAppIsKnown() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            #expect(try await f.ssoctl(["accounts"]).output == "No accounts. Set up an app first, with: ssoctl init\n")
            withExtendedLifetime(agent) {}
        }
    }
}

internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// `sso-agent --rollback-counter`, with all of the agent's own restrictions in effect.
@Suite(.bounded, .enabled(if: EmulatedTPM.isInstalled)) struct RollbackCounterTests {
    @Test func refusesAStateFolderThatWasSetBack() async throws {
        let tpm = try await EmulatedTPM()
        try await AgentProcessFixture.with { f in
            let counted = ["--rollback-counter", tpm.path]
            let parameters = try f.parameters()
            let first = try await f.agent(counted)
            let alice = try await f.signIn("alice@contoso.com", parameters)
            try await first.process.killHard()
            try await shell(f, "cp -a '\(f.folder.file("state"))' '\(f.folder.file("earlier"))'")

            let second = try await f.agent(counted)
            let client = AgentClient(socketPath: f.socketPath)
            let silent = AcquireTokenSilent(parameters: parameters, account: alice.account.reference)
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            let healthy = try await client.diagnose().checks.first { $0.name == "store" }
            #expect(healthy?.ok == true && healthy?.detail.contains("a TPM has counted to") == true)
            try await shell(f, "ssoctl sign-out alice@contoso.com")
            try await second.process.killHard()

            try await shell(
                f, "rm -r '\(f.folder.file("state"))' && mv '\(f.folder.file("earlier"))' '\(f.folder.file("state"))'")
            let third = try await f.agent(counted)
            let refused = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(silent) }
            #expect(refused?.code == .storeUnavailable)
            #expect(refused?.message.contains("is an earlier copy") == true)
            // The message has what to do, and “ssoctl unlock” would only repeat it.
            try await shell(f, "! ssoctl accounts --json | grep -q nextCommand")
            try await shell(f, "ssoctl doctor | grep -q 'start the agent once with --reset-rollback-counter'")
            try await third.process.killHard()

            let fourth = try await f.agent(counted + ["--reset-rollback-counter"])
            #expect(try await client.acquireTokenSilent(silent).accessToken == alice.accessToken)
            withExtendedLifetime(fourth) {}
        }
    }

    @Test func saysWhatKeepsItFromUsingATPM() async throws {
        try await AgentProcessFixture.with { f in
            let noDevice = String(cString: strerror(ENODEV))
            for (path, reason) in [("/dev/tpm-missing", "No such file"), (f.folder.file("file"), noDevice)] {
                try Data().write(to: URL(filePath: f.folder.file("file")))
                let ended = try await f.run("sso-agent", ["--rollback-counter", path])
                #expect(
                    ended.status == 1 && ended.errors.contains("\(path), which cannot be used: \(reason)"),
                    "\(ended.errors)")
            }
            #expect(try await f.run("sso-agent", ["--reset-rollback-counter"]).status == 64)
        }
    }

    private func shell(_ f: AgentProcessFixture, _ script: String) async throws {
        let path = "PATH=\"\(Executable.folder.path):$PATH\"; "
        let ended = try await f.run("/bin/sh", ["-c", path + script])
        #expect(ended.status == 0, "\(script): \(ended.errors)")
    }
}

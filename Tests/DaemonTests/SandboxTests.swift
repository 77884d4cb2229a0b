internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The restrictions of the agent's process.
#if os(Linux)
    @Suite(.bounded) struct SandboxTests {
        /// After a sign-in, the agent has a thread for each of its parts, and has loaded libcurl. Some threads end when they are idle, and
        /// have no status then.
        @Test func restrictsEveryThreadOfTheAgent() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.signIn("alice@contoso.com", f.parameters())
                let tasks = "/proc/\(agent.processID)/task"
                let statuses = try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap {
                    try? String(contentsOfFile: "\(tasks)/\($0)/status", encoding: .utf8)
                }
                #expect(statuses.count > 2)
                for status in statuses {
                    #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "\(status)")
                }
                let check = try await sandboxCheck(f)
                for (part, isExpected) in [("Landlock", Landlock.isAvailable), ("seccomp", true), ("helper", true)] {
                    #expect(check.detail.contains(part) == isExpected, "\(check.detail)")
                }
                #expect(check.ok && (check.hint == nil) == Landlock.isAvailable)
            }
        }

        @Test func isUnrestrictedIfTheUserAsksForIt() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent(["--no-sandbox"])
                let status = try String(contentsOfFile: "/proc/\(agent.processID)/status", encoding: .utf8)
                #expect(status.contains("NoNewPrivs:\t0") && status.contains("Seccomp:\t0"))
                let check = try await sandboxCheck(f)
                #expect(check.detail.hasPrefix("the process is not restricted"))
                #expect(check.hint?.contains("--no-sandbox") == true)
            }
        }

        /// The certificates of a company may be replaced while the agent runs, also if a symbolic link of another folder leads to them.
        @Test(arguments: ["certificates/ca.pem", "links/ca.pem"])
        func readsCertificatesThatAreReplaced(name: String) async throws {
            try await AgentProcessFixture.with(usesTLS: true) { f in
                let (folder, links) = (f.folder.file("certificates"), f.folder.file("links"))
                for path in [folder, links] {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                }
                let (file, chain) = (folder + "/ca.pem", try #require(f.environment["SSL_CERT_FILE"]))
                try FileManager.default.copyItem(atPath: chain, toPath: file)
                try FileManager.default.createSymbolicLink(
                    atPath: links + "/ca.pem", withDestinationPath: "../certificates/ca.pem")
                let agent = try await f.agent(variables: ["SSL_CERT_FILE": f.folder.file(name)])
                try FileManager.default.copyItem(atPath: chain, toPath: file + ".new")
                #expect(rename(file + ".new", file) == 0)
                let signIn = try await f.run(
                    "ssoctl",
                    [
                        "sign-in", "--browser", "--client-id", "app-1", "--authority", "\(f.url)/common", "--scope",
                        "User.Read",
                    ])
                #expect(signIn.status == 0, "\(signIn.errors)")
                withExtendedLifetime(agent) {}
            }
        }

        /// Without the helper nothing is known of a peer, which then counts as sandboxed.
        @Test func saysThatTheHelperHasEnded() async throws {
            let rules = "[[rule]]\nrequests = [\"diagnose\"]\neffect = \"allow\"\n"
            try await AgentProcessFixture.with(rules: rules) { f in
                let agent = try await f.agent()
                let path = "/proc/\(agent.processID)/task/\(agent.processID)/children"
                let helper = try #require(
                    Int32(String(contentsOfFile: path, encoding: .utf8).split(separator: " ").first ?? ""))
                kill(helper, SIGKILL)
                while try String(contentsOfFile: "/proc/\(helper)/stat", encoding: .utf8).contains(") Z ") == false {
                    sched_yield()
                }
                let check = try await sandboxCheck(f)
                #expect(!check.ok && check.hint == "restart sso-agent", "\(check.detail)")
                await #expect { _ = try await AgentClient(socketPath: f.socketPath).status() } throws: { error in
                    let error = error as? TokenError
                    return error?.code == .requestDenied && error?.message.contains("restart sso-agent") == true
                }
            }
        }

        private func sandboxCheck(_ f: AgentProcessFixture) async throws -> HealthCheck {
            let checks = try await AgentClient(socketPath: f.socketPath).diagnose().checks
            return try #require(checks.first { $0.name == "sandbox" })
        }
    }
#endif

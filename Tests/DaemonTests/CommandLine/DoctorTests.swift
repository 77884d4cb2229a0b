internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// What `ssoctl doctor` finds beside the agent: in the session, the configuration and the home folder.
@Suite(.bounded) struct DoctorTests {
    struct Check: Decodable, Equatable {
        var name: String
        var ok: Bool
        var detail: String
        var hint: String?
    }

    private struct Report: Decodable { var checks: [Check] }

    /// The check with a name in what `ssoctl doctor --json` has printed.
    static func check(_ name: String, in output: String) throws -> Check {
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        return try #require(report.checks.first { $0.name == name }, "\(report)")
    }

    private func check(
        _ name: String, _ f: AgentProcessFixture, status: Int32, _ variables: [String: String] = [:]
    ) async throws -> Check {
        let printed = try await f.ssoctl(["doctor", "--json"], status: status, variables: variables)
        return try Self.check(name, in: printed.output)
    }

    /// Without an agent, all that can be checked is checked.
    @Test func checksTheSessionWithoutAnAgent() async throws {
        try await AgentProcessFixture.with { f in
            let printed = try await f.ssoctl(["doctor"], status: 4)
            for name in [
                "service unit", "app sandbox", "configuration", "proxy", "certificates", "clock", "other caches",
            ] {
                #expect(printed.output.contains("ok   \(name): "), "\(name): \(printed)")
            }
            #expect(try await check("service unit", f, status: 4).detail.contains("SSO_AGENT_SOCK"))
        }
    }

    /// The remedy is the one that a sign-in has.
    @Test func saysHowAnEmulatorIsAllowed() async throws {
        try await AgentProcessFixture.with { f in
            let agent = RunningAgent(try TestProcess("sso-agent", environment: f.environment))
            try await agent.process.waitForError("listening on \(f.socketPath)")
            let authority = ["--authority", "\(f.emulator.url)/common"]
            let printed = try await f.ssoctl(["doctor", "--json"] + authority, status: 1)
            let endpoint = try Self.check("token endpoint", in: printed.output)
            #expect(!endpoint.ok && endpoint.detail.contains("allow_loopback_http = true"), "\(endpoint)")
            #expect(endpoint.hint == "ssoctl reload")
            withExtendedLifetime(agent) {}
        }
    }

    /// The agent answers nevertheless, and only its log said so.
    @Test func reportsAnAuditLogThatCannotBeWritten() async throws {
        try await AgentProcessFixture.with { f in
            let log = f.folder.file("state/audit.log")
            for folder in [f.folder.file("state"), log] {
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            }
            let agent = try await f.agent()
            let command = ["doctor", "--json", "--authority", "\(f.emulator.url)/common"]
            let failed = try Self.check("audit log", in: await f.ssoctl(command, status: 1).output)
            #expect(!failed.ok && failed.detail.contains(log) && failed.hint?.contains(log) == true, "\(failed)")
            try FileManager.default.removeItem(atPath: log)
            let mended = try Self.check("audit log", in: await f.ssoctl(command).output)
            #expect(mended.ok && mended.detail == log, "\(mended)")
            withExtendedLifetime(agent) {}
        }
    }

    /// An agent could not create the folder.
    @Test func saysWhyTheSocketHasNoFolder() async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("file")
            try Data().write(to: URL(filePath: file))
            for (path, detail) in [
                ("run/agent.sock", "cannot look at \(file)/run: Not a directory"),
                ("agent.sock", "\(file) is not a folder"),
            ] {
                let folder = try await check("socket folder", f, status: 4, ["SSO_AGENT_SOCK": "\(file)/\(path)"])
                #expect(!folder.ok && folder.detail == detail && folder.hint == nil, "\(folder)")
            }
        }
    }

    /// The agent would not start again, and another user could put a folder of theirs in the place of each.
    @Test func reportsThatOthersCanReplaceTheFolders() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            #expect(chmod(f.folder.path, 0o777) == 0)
            defer { chmod(f.folder.path, 0o700) }
            let authority = ["--authority", "\(f.emulator.url)/common"]
            let printed = try await f.ssoctl(["doctor", "--json"] + authority, status: 1)
            for name in ["socket folder", "state folder"] {
                let check = try Self.check(name, in: printed.output)
                #expect(!check.ok && check.detail.contains("other users can replace what is in"), "\(check)")
                #expect(check.hint == "chmod go-w \(f.folder.path)", "\(check)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// The mode of the socket is not what is wrong, and the command that the error names is this one.
    @Test func suggestsNothingForAnAgentThatAcceptsNoConnection() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            let busy = try BusySocket(at: f.socketPath)
            let socket = try await check("socket", f, status: 4)
            #expect(!socket.ok && socket.detail.hasSuffix(" accepts no connection at present"), "\(socket)")
            #expect(socket.hint == nil)
            withExtendedLifetime(busy) {}
        }
    }

    #if os(Linux)
        /// As after an upgrade of the package: an agent that a program has started goes on as the old version.
        @Test func reportsThatTheProgramOfTheAgentWasReplaced() async throws {
            try await AgentProcessFixture.with { f in
                let program = try await f.folder.copyProgram("sso-agent", from: Executable.path("sso-agent"))
                let agent = try TestProcess(program, ["--allow-loopback-http"], environment: f.environment)
                try await agent.waitForError("listening on \(f.socketPath)")
                let authority = ["--authority", "\(f.emulator.url)/common"]
                func doctor() async throws -> Check {
                    try Self.check("program", in: await f.ssoctl(["doctor", "--json"] + authority).output)
                }
                #expect(try await doctor().hint == nil)
                try Data().write(to: URL(filePath: program + ".new"))
                #expect(rename(program + ".new", program) == 0)
                let check = try await doctor()
                #expect(
                    check.ok && check.detail.hasSuffix("its file has been replaced since it was started"), "\(check)")
                #expect(check.hint == "kill \(agent.processID)")
                agent.signal(SIGKILL)
            }
        }
    #endif

    @Test func checksTheProxyWithoutShowingItsPassword() async throws {
        try await AgentProcessFixture.with { f in
            let proxy = try await check("proxy", f, status: 4, ["HTTPS_PROXY": "http://alice:secret@proxy:8080/x"])
            #expect(proxy.ok && proxy.detail == "http://proxy:8080 (HTTPS_PROXY of this shell)")
            let all = [
                "https_proxy": "http://a", "HTTPS_PROXY": "http://b", "all_proxy": "socks5://c",
                "ALL_PROXY": "http://d",
            ]
            let lower = try await check("proxy", f, status: 4, all)
            #expect(lower.detail == "http://a (https_proxy of this shell)")
            let socks = try await check("proxy", f, status: 4, ["ALL_PROXY": "socks://d:1"])
            #expect(socks.detail == "socks://d:1 (ALL_PROXY of this shell)")
            let wrong = try await check("proxy", f, status: 4, ["HTTPS_PROXY": "ftp://alice:secret@proxy"])
            #expect(!wrong.ok && !"\(wrong)".contains("secret"), "\(wrong)")
            try f.configure("[network]\nproxy = \"socks5h://127.0.0.1:1080\"\n")
            #expect(try await check("proxy", f, status: 4).detail == "socks5h://127.0.0.1:1080 ([network] proxy)")
        }
    }

    @Test func checksTheFileOfCertificateAuthorities() async throws {
        try await AgentProcessFixture.with(usesTLS: true) { f in
            #expect(try await check("certificates", f, status: 4).detail.contains("has 1 certificate (SSL_CERT_FILE"))
            let file = f.folder.file("der")
            try Data([0x30, 0x82]).write(to: URL(filePath: file))
            let der = try await check("certificates", f, status: 4, ["SSL_CERT_FILE": file])
            #expect(!der.ok && der.hint?.contains("-inform der") == true)
            // What the agent refuses at its start.
            for body in ["", "eyJ4Ijox", "%%%"] {
                let text = "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n"
                try text.write(toFile: file, atomically: false, encoding: .utf8)
                #expect(try await !check("certificates", f, status: 4, ["SSL_CERT_FILE": file]).ok, "\(body)")
            }
            let none = try await check("certificates", f, status: 4, ["SSL_CERT_FILE": f.folder.file("none")])
            #expect(!none.ok)
        }
    }

    @Test func reportsAConfigurationThatCannotBeRead() async throws {
        try await AgentProcessFixture.with { f in
            try f.configure("[network]\nprxy = \"x\"\n")
            let check = try await check("configuration", f, status: 4)
            #expect(!check.ok && check.detail.contains("config.toml:2: "), "\(check)")
            #expect(check.hint?.hasPrefix("${EDITOR:-nano} +2 ") == true, "\(check)")
        }
    }

    /// A file in plain text is a hint, and one that other users can read a failure.
    @Test func findsTokensThatOtherToolsHaveLeft() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let emulator = ["--authority", "\(f.emulator.url)/common"]
            let folder = f.folder.file(".azure")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = "\(folder)/msal_token_cache.json"
            // That of a tool that has signed out has no tokens.
            try Data(#"{"Account": {}, "RefreshToken": {}}"#.utf8).write(to: URL(filePath: file))
            let none = try await f.ssoctl(["doctor"] + emulator).output
            #expect(none.contains("no tool has left tokens") && none.hasSuffix(" checks passed\n"), "\(none)")
            try Data(#"{"RefreshToken": {"k": {}}}"#.utf8).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let printed = try await f.ssoctl(["doctor"] + emulator)
            #expect(
                printed.output.contains(
                    "azure-cli keeps tokens in plain text: \(file)\n     → ssoctl import --from azure-cli"))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let open = try await f.ssoctl(["doctor"] + emulator, status: 1)
            #expect(open.output.contains("which other users can read\n     → chmod 600 \(file)\n1 of "), "\(open)")
            #expect(open.output.hasSuffix(" checks has failed\n"), "\(open)")
            withExtendedLifetime(agent) {}
        }
    }
}

internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The agent with folders and files that somebody else has prepared.
@Suite(.bounded) struct HostileFolderTests {
    @Test func refusesASocketFolderThatIsASymbolicLink() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("elsewhere"), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.createSymbolicLink(
                atPath: f.folder.file("run"), withDestinationPath: f.folder.file("elsewhere"))
            let ended = try await f.run("sso-agent", [])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("\(f.folder.file("run")) is not a folder"))
        }
    }

    @Test(arguments: [0o777, 0o770])
    func refusesASocketBelowAFolderThatOthersMayChange(mode: Int) async throws {
        try await AgentProcessFixture.with { f in
            let open = f.folder.file("open")
            try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
            try FileManager.default.setAttributes(
                [.posixPermissions: mode, .groupOwnerAccountID: 65534], ofItemAtPath: open)
            let ended = try await f.run("sso-agent", ["--socket", "\(open)/run/agent.sock"])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("chmod go-w \(open)"), "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: open + "/run"))
        }
    }

    /// Without a runtime directory, the socket is beside the store, and never in a folder that another user can make first.
    @Test(.disabled(if: FileManager.default.fileExists(atPath: "/run/user/\(geteuid())"), "the user has one"))
    func listensBesideTheStoreWithoutARuntimeDirectory() async throws {
        try await AgentProcessFixture.with { f in
            var environment = f.environment
            environment["SSO_AGENT_SOCK"] = nil
            environment["XDG_RUNTIME_DIR"] = nil
            environment["TMPDIR"] = f.folder.file("tmp")
            let socket = f.folder.file("state/run/agent.sock")
            let agent = try TestProcess("sso-agent", [], environment: environment)
            _ = try await agent.waitForError("listening on \(socket)")
            #expect(try TemporaryFolder.mode(of: f.folder.file("state/run")) == 0o700)
            let status = try await TestProcess("ssoctl", ["status"], environment: environment).finish()
            #expect(status.status == 0, "\(status.errors)")
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("tmp")))
            agent.signal(SIGKILL)
        }
    }

    @Test(arguments: ["[network]\nca_file", "[confirmation]\naskpass"])
    func refusesAFileOfTheConfigurationThatOthersMayChange(key: String) async throws {
        try await AgentProcessFixture.with { f in
            let file = f.folder.file("file")
            #expect(
                FileManager.default.createFile(atPath: file, contents: Data(), attributes: [.posixPermissions: 0o666]))
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
            let configuration = f.folder.file("config.toml")
            try "\(key) = '\(file)'\n".write(toFile: configuration, atomically: true, encoding: .utf8)
            let ended = try await f.run("sso-agent", ["--config", configuration])
            #expect(ended.status == 1)
            #expect(ended.errors.contains("chmod go-w \(file)"), "\(ended.errors)")
        }
    }

    /// Who can add an authority can have the agent send refresh tokens to another host.
    @Test func refusesCertificateAuthoritiesThatOthersMayChange() async throws {
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let file = f.folder.file("ca.pem")
            let authorities = try #require(f.environment["SSL_CERT_FILE"])
            try FileManager.default.copyItem(atPath: authorities, toPath: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
            let environment = f.environment.merging(["SSL_CERT_FILE": file]) { $1 }
            let ended = try await TestProcess("sso-agent", ["--check-config"], environment: environment).finish()
            #expect(ended.status == 1 && ended.errors.contains("chmod go-w \(file)"), "\(ended)")
        }
    }

    /// A file whose reading would not end, one that claims records without end, and pipes without a writer.
    @Test(arguments: ["view", "pipe", "pipe.new"])
    func servesAndStopsWithAHostileStore(kind: String) async throws {
        try await AgentProcessFixture.with { f in
            let state = f.folder.file("state")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            switch kind {
            case "view":
                try PlainDatabase.execute(
                    PlainDatabase.header(version: 2)
                        + "CREATE VIEW sealed AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                        + "SELECT i AS sequence, x'00' AS body FROM n", at: state + "/cache.sqlite")
            case "pipe": #expect(mkfifo(state + "/cache.sqlite", 0o600) == 0)
            default: #expect(mkfifo(state + "/cache.sqlite.new", 0o600) == 0)
            }
            guard kind != "pipe" else {
                let ended = try await f.run("sso-agent", [])
                #expect(ended.status == 1 && ended.errors.contains("move it elsewhere"), "\(ended.errors)")
                return
            }
            let agent = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            #expect(try await client.status().processID == agent.processID)
            if kind == "view" { #expect(try await client.listAccounts(ListAccounts(clientID: nil)).isEmpty) }
            agent.process.signal(SIGTERM)
            #expect(try await agent.process.finish().status == 0)
        }
    }
}

internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Each example, run as its README says: real processes, one agent, one sign-in.
@Suite(.bounded) struct ExampleTests {
    private static let app = "11111111-2222-4333-8444-555555555555"

    private func run(
        _ f: AgentProcessFixture, _ example: String, _ arguments: String..., status: Int32 = 0
    ) async throws -> [String] {
        let common = ["--client-id", Self.app, "--authority", "\(f.emulator.url)/common"]
        let ended = try await f.run(example, common + arguments)
        #expect(ended.status == status, "\(example) \(arguments): \(ended.output)\(ended.errors)")
        return ended.output.split(separator: "\n").map(String.init)
    }

    private func value(_ name: String, in lines: [String]) throws -> String {
        let line = try #require(lines.first { $0.hasPrefix("\(name): ") })
        return String(line.dropFirst(name.count + 2))
    }

    @Test func servesTheADALAppAfterAnMSALSignIn() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let signedIn = try await run(f, "modern-notes", "--sign-in", "--username", "alice@contoso.com")
            let username = try value("username", in: signedIn)
            let served = try await run(f, "legacy-mail", "--silent", "--user-id", username)
            #expect(try value("homeAccountId", in: served) == value("identifier", in: signedIn))
            #expect(f.emulator.control.counts.signIns == 1)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func servesTheMSALAppAfterAnADALSignIn() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let signedIn = try await run(f, "legacy-mail", "--sign-in", "--user-id", "bob@contoso.com")
            let identifier = try value("homeAccountId", in: signedIn)
            let served = try await run(f, "modern-notes", "--silent", "--identifier", identifier)
            #expect(try value("username", in: served) == "bob@contoso.com")
            #expect(f.emulator.control.counts.signIns == 1)
            withExtendedLifetime(agent) {}
        }
    }

    /// A sign-in does not help where the user has to choose.
    @Test func showsNoSignInPageToOneOfSeveralUsers() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for username in ["alice@contoso.com", "bob@contoso.com"] {
                _ = try await run(f, "modern-notes", "--sign-in", "--username", username)
            }
            #expect(try await run(f, "modern-notes", status: 2).isEmpty)
            #expect(f.emulator.control.counts.signIns == 2)
            let signedIn = try await run(f, "modern-notes", "--username", "carol@contoso.com")
            #expect(try value("username", in: signedIn) == "carol@contoso.com")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func movesAnAppFromADALsUserIDToMSALsIdentifier() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await run(f, "legacy-mail", "--sign-in", "--user-id", "bob@contoso.com")
            let state = f.folder.file("state.json")
            try #"{"userId": "bob@contoso.com"}"#.write(toFile: state, atomically: true, encoding: .utf8)
            let first = try await run(f, "migration", "--state", state)
            #expect(first.first == "found bob@contoso.com by the userId that ADAL had given")
            let second = try await run(f, "migration", "--state", state)
            #expect(second.first == "found bob@contoso.com by the saved identifier")
            #expect(f.emulator.control.counts.signIns == 1)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func continuesAsNoOtherUserThanTheSavedOne() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await run(f, "legacy-mail", "--sign-in", "--user-id", "alice@contoso.com")
            let state = f.folder.file("state.json")
            try #"{"userId": "bob@contoso.com"}"#.write(toFile: state, atomically: true, encoding: .utf8)
            #expect(try await run(f, "migration", "--state", state).first == "asking the user to sign in")
            let new = f.folder.file("new.json")
            #expect(try await run(f, "migration", "--state", new).first == "found alice@contoso.com, the only account")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func signsTheOtherExampleOutToo() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try await run(f, "modern-notes", "--sign-in", "--username", "alice@contoso.com")
            #expect(try await run(f, "modern-notes", "--list").count == 1)
            _ = try await run(f, "modern-notes", "--sign-out", "--username", "alice@contoso.com")
            #expect(try await run(f, "modern-notes", "--list") == ["nobody is signed in"])
            _ = try await run(f, "legacy-mail", "--silent", "--user-id", "alice@contoso.com", status: 2)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func givesAScriptATokenWithNothingButASocket() async throws {
        try await AgentProcessFixture.with { f in
            let script = PackageFolder.path("examples/raw-socket/get_token.py")
            let arguments = [
                "python3", script, "--client-id", Self.app, "--authority", "\(f.emulator.url)/common", "--username",
                "alice@contoso.com", "--scope", "User.Read",
            ]
            #expect(try await f.run("/usr/bin/env", arguments).status == 1)
            let agent = try await f.agent()
            #expect(try await f.run("/usr/bin/env", arguments).status == 2)
            _ = try await run(f, "modern-notes", "--sign-in", "--username", "alice@contoso.com")
            let token = try await f.run("/usr/bin/env", arguments)
            #expect(token.status == 0)
            #expect(token.output.split(separator: ".").count == 3)
            withExtendedLifetime(agent) {}
        }
    }

    /// Protos/PROTOCOL.md: a reader checks the length before it waits for the message.
    @Test(arguments: [("00000000", 0), ("00100001", 1_048_577)])
    func refusesAFrameOfAnotherLengthThanRepliesHave(bytes: String, length: Int) async throws {
        let ended = try await tokenOfAnAgent(thatSends: bytes)
        #expect(ended.status == 1 && ended.errors.contains("a frame of \(length) bytes"), "\(ended.errors)")
    }

    /// A number without an end, an unknown wire type, a failure that is a number, lacks its members or is not UTF-8, and a result that is
    /// a number or has no token.
    @Test(arguments: [
        "00000001ff", "000000010b", "000000021001", "000000021200", "00000008120608021202fffe", "000000025801",
        "000000025a00",
    ])
    func refusesWhatIsNoReply(bytes: String) async throws {
        let ended = try await tokenOfAnAgent(thatSends: bytes)
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(ended.errors.hasSuffix("has sent something else than a reply\n"), "\(ended.errors)")
        #expect(!ended.errors.contains("Traceback"))
    }

    /// Protos/PROTOCOL.md: a reader ignores unknown fields, here one of four bytes and one of eight.
    @Test func passesOverFieldsOfALaterAgent() async throws {
        let result = "0a05746f6b656e" + "9d0600000000" + "91060000000000000000"
        let ended = try await tokenOfAnAgent(thatSends: "0000001b08015a17" + result)
        #expect(ended.status == 0 && ended.output == "token\n", "\(ended.errors)")
    }

    /// docs/clients.md: an agent of the same user is used whatever `SSO_AGENT_OWNER` has, but it has to be a number.
    @Test(arguments: [("root", "SSO_AGENT_OWNER is not the ID of a user"), ("4294967294", "a frame of 0 bytes")])
    func usesAnAgentOfItsOwnUserWhateverOwnerIsNamed(owner: String, message: String) async throws {
        let script = PackageFolder.path("examples/raw-socket/get_token.py")
        let ended = try await run(
            [
                "SSO_AGENT_OWNER=\(owner)", "python3", script, "--client-id", Self.app, "--username",
                "alice@contoso.com", "--scope", "User.Read",
            ], atAnAgentThatSends: "00000000")
        #expect(ended.status == 1 && ended.errors.contains(message), "\(ended.errors)")
        #expect(!ended.errors.contains("Traceback"))
    }

    /// docs/clients.md: only requests that wait for a person, or for a change, have no time-out.
    @Test func waitsForAReplyForALimitedTime() async throws {
        let script = "import get_token; get_token.TIME_LIMIT = 0.2; get_token.main()"
        let ended = try await run(
            [
                "PYTHONPATH=\(PackageFolder.path("examples/raw-socket"))", "PYTHONDONTWRITEBYTECODE=1", "python3", "-c",
                script, "--client-id", Self.app, "--username", "alice@contoso.com", "--scope", "User.Read",
            ], atAnAgentThatSends: "")
        #expect(ended.status == 1 && ended.errors.hasSuffix("timed out\n"), "\(ended.errors)")
    }

    /// Runs the script at a socket whose agent answers with these bytes, given as hexadecimal digits.
    private func tokenOfAnAgent(
        thatSends bytes: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let script = PackageFolder.path("examples/raw-socket/get_token.py")
        return try await run(
            ["python3", script, "--client-id", Self.app, "--username", "alice@contoso.com", "--scope", "User.Read"],
            atAnAgentThatSends: bytes)
    }

    private func run(
        _ arguments: [String], atAnAgentThatSends bytes: String
    ) async throws -> (status: Int32, output: String, errors: String) {
        let folder = try TemporaryFolder()
        let server = """
            from socket import AF_UNIX, socket
            from sys import argv
            listener = socket(AF_UNIX)
            listener.bind(argv[1])
            listener.listen()
            print("listening", flush=True)
            peer = listener.accept()[0]
            peer.sendall(bytes.fromhex(argv[2]))
            while peer.recv(4096): pass
            """
        let path = folder.file("agent.sock")
        let agent = try TestProcess("/usr/bin/env", ["python3", "-c", server, path, bytes])
        try await agent.waitForOutput("listening")
        let ended = try await TestProcess("/usr/bin/env", ["SSO_AGENT_SOCK=\(path)"] + arguments).finish()
        withExtendedLifetime(agent) {}
        return ended
    }

    private static let hasProtobuf =
        ["/usr/bin/protoc", "/usr/lib/python3/dist-packages/google/protobuf"].allSatisfy(FileManager.default.fileExists)

    /// docs/clients.md.
    @Test(.enabled(if: hasProtobuf, "protobuf-compiler and python3-protobuf are not installed"))
    func signsAnAppInPythonInWithACode() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let generated = [
                "protoc", "--python_out=\(f.folder.path)", "-I", PackageFolder.path("Protos"), "agent.proto",
            ]
            #expect(try await f.run("/usr/bin/env", generated).status == 0)
            let arguments = [
                "PYTHONPATH=\(f.folder.path)", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3",
                PackageFolder.path("examples/python-client/notes.py"), "--client-id", Self.app, "--scope", "User.Read",
                "--authority", "\(f.emulator.url)/common",
            ]
            let app = try TestProcess("/usr/bin/env", arguments, environment: f.environment)
            let shown = try await app.waitForError("enter the code")
            let code = try #require(shown.firstMatch(of: #/enter the code (\S+)/#)).output.1
            #expect(f.emulator.control.approveDeviceCode(String(code), username: "alice@contoso.com") == 1)
            let first = try await app.finish()
            #expect(first.output.contains("a token of alice@contoso.com"), "\(first.errors)")
            #expect(try await f.run("/usr/bin/env", arguments).output.hasSuffix("from the cache: yes\n"))
            let listed = try await f.run("/usr/bin/env", arguments + ["--list"])
            #expect(listed.output.hasPrefix("alice@contoso.com "))
            withExtendedLifetime(agent) {}
        }
    }

    /// A field without an end, a failure whose message is not UTF-8, a reply of an unknown kind after that to `hello`, and an owner of the
    /// socket who is not named by a number.
    @Test(
        .enabled(if: hasProtobuf, "protobuf-compiler and python3-protobuf are not installed"),
        arguments: [
            ("00000001ff", ""), ("00000008120608021202fffe", ""), ("00000002520000000003ca3000", ""), ("", "root"),
        ])
    func saysInPythonWhyThereIsNoReply(bytes: String, owner: String) async throws {
        let folder = try TemporaryFolder()
        let generated = ["protoc", "--python_out=\(folder.path)", "-I", PackageFolder.path("Protos"), "agent.proto"]
        #expect(try await TestProcess("/usr/bin/env", generated).finish().status == 0)
        let ended = try await run(
            [
                "SSO_AGENT_OWNER=\(owner)", "PYTHONPATH=\(folder.path)", "PYTHONDONTWRITEBYTECODE=1",
                "/usr/bin/python3",
                PackageFolder.path("examples/python-client/notes.py"), "--client-id", Self.app, "--scope", "User.Read",
            ], atAnAgentThatSends: bytes)
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(!ended.errors.contains("Traceback"), "\(ended.errors)")
    }

    /// docs/images/demo.svg is what the programs show today; record.py writes it again.
    @Test(.enabled(if: Executable.isInstalled("stty"), "there is no stty"))
    func showsInTheRecordingWhatTheProgramsShow() async throws {
        let script = PackageFolder.path("docs/images/record.py")
        let ended = try await TestProcess("/usr/bin/env", ["python3", script, "--check", Executable.folder.path])
            .finish()
        #expect(ended.status == 0, "\(ended.errors)")
    }

    /// docs/performance.md and its picture have the figures of docs/performance.json; plot.py writes them again.
    @Test func showsTheFiguresOnTheirPage() async throws {
        let script = PackageFolder.path("docs/images/plot.py")
        let ended = try await TestProcess("/usr/bin/env", ["python3", script, "--check"]).finish()
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func printsItsUsage() async throws {
        try await AgentProcessFixture.with { f in
            for example in ["modern-notes", "legacy-mail", "migration"] {
                for arguments in [["--frobnicate"], []] {
                    let ended = try await f.run(example, arguments)
                    #expect(ended.status == 64)
                    #expect(ended.errors.hasPrefix("usage: \(example)"))
                }
                for arguments in [["--help"], ["--client-id", "a", "-h"]] {
                    let ended = try await f.run(example, arguments)
                    #expect(ended.status == 0, "\(example) \(arguments)")
                    #expect(ended.output.hasPrefix("usage: \(example)"))
                }
            }
        }
    }
}

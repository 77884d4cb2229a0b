internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The files of published sockets: what they may replace, and in which folders they may be.
@Suite(.bounded) struct PublishedSocketFileTests {
    /// A check that the socket does not serve would find nothing wrong.
    @Test func saysWhereTheFilesOfTheStoreAreMended() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.waitUntilOpen()
            let path = try f.makeSocketFolder()
            #expect(try await f.publish(path).status == 0)
            #expect(try await !f.at(path, ["doctor"]).output.contains(" store: "))
            let place = "; a published socket gives tokens only; run this where the agent runs: "
            try await f.ssoctl(["lock"])
            // What an app shows that uses the SDK.
            let list = ListAccounts(clientID: ClientID("app-1"), onlySignedIn: true)
            let error = await #expect(throws: TokenError.self) {
                try await AgentClient(socketPath: path).listAccounts(list)
            }
            #expect(error?.message == "the store was locked\(place)ssoctl unlock")
            #expect(error?.details.nextCommand == nil)
            let status = try await f.at(path, ["status", "--json"])
            #expect(status.output.contains("\(place)ssoctl doctor"), "\(status)")
            #expect(!status.output.contains("nextCommand"), "\(status)")
            let doctor = try await f.at(path, ["doctor"])
            #expect(doctor.status == 1 && doctor.output.contains("FAIL store: "), "\(doctor)")
            #expect(doctor.output.contains("\(place)ssoctl doctor\n"), "\(doctor)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func replacesOnlyASocketOnWhichNobodyListens() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            func refusal() async throws -> String {
                let ended = try await f.publish(path)
                #expect(ended.status == 1)
                return ended.errors
            }
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try await refusal().contains("another file"))
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: f.folder.file("target"))
            #expect(try await refusal().contains("another file"))
            try FileManager.default.removeItem(atPath: path)
            // A process that listens, and its socket after it has ended.
            let listener = try TestProcess(
                "/usr/bin/env",
                [
                    "python3", "-c",
                    "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                        + "print('listening', flush=True); time.sleep(1000)", path,
                ])
            try await listener.waitForOutput("listening")
            #expect(try await refusal().contains("listens there already"))
            try await listener.killHard()
            #expect(FileManager.default.fileExists(atPath: path))
            #expect(try await f.publish(path).status == 0)
            // What the user has put into its place meanwhile is not removed.
            try FileManager.default.removeItem(atPath: path)
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(try await f.run("ssoctl", ["unpublish", path]).status == 0)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
            withExtendedLifetime(agent) {}
        }
    }

    /// A sticky folder, such as /tmp, is meant for all users, who need another one.
    @Test(arguments: [
        (0o775, "chmod go-w"), (0o757, "chmod go-w"), (0o777, "chmod go-w"), (0o1777, "mkdir -p -m 711 ~/.sso-sockets"),
    ])
    func refusesAPublishedSocketInAFolderThatOthersMayWrite(mode: Int, remedy: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let path = try f.makeSocketFolder()
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: f.folder.file("shared"))
            let ended = try await f.publish(path)
            #expect(ended.status == 1 && ended.errors.contains(remedy), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesTheLimitOfTheLastPartOfAPath() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try f.makeSocketFolder()
            let ended = try await f.publish(f.folder.file("shared/" + String(repeating: "x", count: 91)))
            #expect(ended.status == 1 && ended.errors.contains("its last part is longer than 90"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func refusesAFolderThatIsALink() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            _ = try f.makeSocketFolder()
            try FileManager.default.createSymbolicLink(
                atPath: f.folder.file("link"), withDestinationPath: f.folder.file("shared"))
            let ended = try await f.publish(f.folder.file("link/sso.sock"))
            #expect(ended.status == 1 && ended.errors.contains("is not a folder"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }
}

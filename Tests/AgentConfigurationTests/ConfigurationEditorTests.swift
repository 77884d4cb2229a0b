internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentConfiguration

@Suite(.bounded) struct ConfigurationEditorTests {
    private static let written = """
        # The company's proxy
        [network]
        proxy = "http://proxy:3128"   # asks for a ticket

        [apps.graph]  # mine
        client_id = "app-1" # from the portal
        # for mail too
        scopes = ["User.Read"]

        # The rest is for tests.
        [apps.test]
        client_id = 'app-2'

        [[rule]]
        requests = ["all"]
        effect = "allow"

        """

    /// Changes a file with this content, and returns the new content.
    private func change(
        _ text: String, _ body: (inout ConfigurationEditor) throws(TokenError) -> Void
    ) throws -> String {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try ConfigurationEditor.change(path, body)
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    @Test func keepsCommentsAndOrder() throws {
        let changed = try change(Self.written) { editor throws(TokenError) in
            var app = ConfigurationEditor.App(name: "graph", clientID: "app-\"3\"\\")
            app.tenant = "contoso.com"
            app.scopes = ["Mail.Read", "User.Read"]
            try editor.setApp(app)
            try editor.setApp(ConfigurationEditor.App(name: "new", clientID: "app-4"))
            try editor.setDefaultApp("new")
        }
        let expected = Self.written
            .replacing(#"client_id = "app-1" # from"#, with: #"client_id = "app-\"3\"\\"  # from"#)
            .replacing(
                "scopes = [\"User.Read\"]\n",
                with: "scopes = [\"Mail.Read\", \"User.Read\"]\ntenant = \"contoso.com\"\n")
        #expect(
            changed == expected + "\n[apps.new]\nclient_id = \"app-4\"\n\n[defaults]\napp = \"new\"\n", "\(changed)")
    }

    @Test func removesAnAppWithItsDefault() throws {
        let changed = try change(Self.written + "[defaults]\napp = \"graph\"\naccount = \"a\"\n") {
            editor throws(TokenError) in
            try editor.removeApp("graph")
            try editor.removeApp("none")
        }
        #expect(!changed.contains("[apps.graph]") && !changed.contains("app = \"graph\""))
        #expect(changed.contains("ticket\n\n# The rest is for tests.\n[apps.test]"), "\(changed)")
        #expect(changed.contains("account = \"a\""))
    }

    @Test func keepsTheCommentsOfRemovedDefaults() throws {
        let text = "[defaults]\n  app = \"graph\"   # for mail\naccount = \"a\"\n# the end\n"
        let changed = try change(text) { editor throws(TokenError) in _ = try editor.removeDefaults() }
        #expect(changed == "[defaults]\n  # for mail\n# the end\n", "\(changed)")
    }

    /// The lines that are not changed are the same bytes afterwards.
    @Test(arguments: [
        ("[defaults]\r\n\tapp = 'a'\n# x\n", "[defaults]\r\n\tapp = \"b\"\n# x\n"),
        ("[defaults]\n# x\r\n", "[defaults]\napp = \"b\"\n# x\r\n"),
        ("# x\r\n[defaults]", "# x\r\n[defaults]\r\napp = \"b\"\r\n"),
    ])
    func keepsTheEndsOfLinesAndTheirIndentation(text: String, expected: String) throws {
        let changed = try change(text) { editor throws(TokenError) in try editor.setDefaultApp("b") }
        #expect(Array(changed.utf8) == Array(expected.utf8), "\(changed.debugDescription)")
    }

    @Test(arguments: ["", "\n", "# only a comment", "[defaults]", "[defaults]\r\n# a\r\n", "\u{FEFF}[network]\n"])
    func addsToAnyFile(text: String) throws {
        let changed = try change(text) { editor throws(TokenError) in
            try editor.setDefaultAccount("alice")
            try editor.setApp(ConfigurationEditor.App(name: "a.b", clientID: "x"))
        }
        let configuration = try Configuration(decoding: changed.utf8)
        #expect(configuration.defaultAccount?.value == "alice" && configuration.app(named: "a.b")?.clientID.text == "x")
        // Foundation leaves the byte order mark out when it reads a file.
        for line in text.replacing("\u{FEFF}", with: "").split(whereSeparator: \.isNewline) {
            #expect(changed.contains(line))
        }
        #expect(!text.contains("\r\n") || !changed.replacing("\r\n", with: "").contains("\n"))
    }

    @Test func createsTheFileAndItsFolderForTheUserOnly() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("new/sso-agent/config.toml")
        try ConfigurationEditor.change(path) { editor throws(TokenError) in try editor.setDefaultApp("a") }
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
        #expect(try Configuration(userFile: path, isRequired: true).defaultApp?.value == "a")
    }

    /// As the package managers of some systems leave beside it.
    @Test func leavesTheOtherFilesOfTheFolderAlone() throws {
        let folder = try TemporaryFolder()
        let (path, other) = (folder.file("config.toml"), folder.file("config.toml.new"))
        for _ in 0..<2 {
            try "mine".write(toFile: other, atomically: false, encoding: .utf8)
            try ConfigurationEditor.change(path) { editor throws(TokenError) in try editor.setDefaultAccount("a") }
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "mine")
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)).count == 2)
        }
        #expect(try TemporaryFolder.mode(of: path) == 0o600)
    }

    @Test func followsASymbolicLink() throws {
        let folder = try TemporaryFolder()
        let (path, link) = (folder.file("real.toml"), folder.file("link.toml"))
        try "# mine\n".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try ConfigurationEditor.change(link) { editor throws(TokenError) in try editor.setDefaultApp("a") }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("# mine\n"))
    }

    @Test(arguments: ["[network]\nproxi = \"x\"\n", "[network\n"])
    func leavesAFileAloneThatCannotBeRead(text: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: TokenError.self) {
            try ConfigurationEditor.change(path) { editor throws(TokenError) in try editor.setDefaultApp("a") }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func writesNothingThatIsNoConfiguration() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        let error = #expect(throws: TokenError.self) {
            try ConfigurationEditor.change(path) { editor throws(TokenError) in
                var app = ConfigurationEditor.App(name: "a", clientID: "x")
                app.authority = "no URL"
                try editor.setApp(app)
            }
        }
        #expect(error?.message.contains("no URL") == true)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// Of two commands at the same time, the second would undo what the first one changes.
    @Test func changesNothingWhileAnotherProgramDoes() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        let other = open(path + ".sso-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        let error = #expect(throws: TokenError.self) {
            try ConfigurationEditor.change(path, waitingFor: .zero) { editor in try editor.setDefaultApp("a") }
        }
        #expect(error?.message == "another program is changing \(path); try again")
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    /// As commands that a script runs at the same time.
    @Test func losesNoneOfSeveralChangesAtTheSameTime() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            do {
                try ConfigurationEditor.change(path) { editor in
                    try editor.setApp(ConfigurationEditor.App(name: "app-\(number)", clientID: "x"))
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock(\.self) == [])
        #expect(try Configuration(userFile: path, isRequired: true).apps.count == 16)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["config.toml"])
    }

    /// As an agent locks the folder of its store while it runs, which may be that of the configuration.
    @Test func changesAFileInALockedFolder() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        let other = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(other) }
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        try ConfigurationEditor.change(path) { editor in try editor.setDefaultApp("a") }
        #expect(try Configuration(userFile: path, isRequired: true).defaultApp?.value == "a")
    }

    /// What a command leaves that is killed while it changes the file.
    @Test func takesOverTheLockOfAProgramThatHasEnded() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try "".write(toFile: path + ".sso-lock", atomically: false, encoding: .utf8)
        try ConfigurationEditor.change(path) { editor in try editor.setDefaultApp("a") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["config.toml"])
    }

    /// The configuration can be written: what is in the way has to be named.
    @Test func namesALockThatCannotBeOpened() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try FileManager.default.createDirectory(atPath: path + ".sso-lock", withIntermediateDirectories: false)
        let error = #expect(throws: TokenError.self) {
            try ConfigurationEditor.change(path) { editor in try editor.setDefaultApp("a") }
        }
        #expect(error?.message.hasPrefix("cannot write \(path).sso-lock: ") == true, "\(error?.message ?? "")")
    }

    /// The agent would refuse the longer file.
    @Test func writesNoFileThatIsTooLongToBeRead() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        let text = "#" + String(repeating: "x", count: Configuration.sizeLimit - 10) + "\n"
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        let error = #expect(throws: TokenError.self) {
            try ConfigurationEditor.change(path) { editor throws(TokenError) in try editor.setDefaultApp("a") }
        }
        #expect(error?.message.contains("\(path) would have more than") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
}

internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentConfiguration

@Suite(.bounded) struct ConfigurationTests {
    @Test func readsTheSettingsOfTheNetwork() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try """
        # The company's proxy
        [network]
        ca_file = "/etc/ssl/company.pem"
        proxy = 'http://proxy:3128'
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try Configuration(userFile: path, isRequired: true)
        #expect(configuration.caFile?.value == "/etc/ssl/company.pem")
        #expect(configuration.proxy?.value == "http://proxy:3128")
    }

    @Test func letsAppsKeepTokensUnlessItSaysOtherwise() throws {
        #expect(try Configuration(decoding: "".utf8).letsAppsKeepTokens)
        #expect(try !Configuration(decoding: "[tokens]\nkept_by_apps = false\n".utf8).letsAppsKeepTokens)
    }

    @Test(arguments: ["", "[network]\n", "# nothing\n"])
    func setsNothingWithoutKeys(text: String) throws {
        let configuration = try Configuration(decoding: text.utf8)
        #expect(configuration.caFile == nil)
        #expect(configuration.proxy == nil)
    }

    @Test(
        arguments: [
            ("[network]\nca_fiel = \"x\"", "line 2", "use ca_file, proxy or allow_loopback_http"),
            ("proxy = \"x\"", "line 1", "below the line [network]"),
            ("[network]\n\n[log]\nlevel = 1", "line 3", "use [network]"),
            ("[network]\n\n[log]\n", "line 3", "[apps.NAME] or [[rule]]"),
            ("[apps]\n[metric]", "line 2", "use [network]"),
            ("[rule]\n", "line 1", "two pairs of brackets"), ("[log.file]\n", "line 1", "only [apps.NAME]"),
            ("[audit]\nname = true", "line 2", "use destination or names"),
            ("[audit]\nnames = 1", "line 2", "true or false"),
            ("[audit]\ndestination = \"disk\"", "line 2", "file, journal, off"),
            ("[confirmation]\nprogram = \"x\"", "line 2", "use askpass"),
            ("[tokens]\nkeep = false", "line 2", "use kept_by_apps"),
            ("[tokens]\nkept_by_apps = 0", "line 2", "true or false"),
            ("[confirmation]\naskpass = \"x\"", "line 2", "absolute path"),
            ("[network]\nca_file = \"/ca.pem\\u0000x\"", "line 2", "“ca_file” has a control character"),
            ("[metrics]\nsocket = \"/run/a\\nb\"", "line 2", "“socket” has a control character"),
            ("[network]\nproxy = 1", "line 2", "quotation marks"),
            ("[network]\n\nproxy = \"ftp://me:secret@proxy\"", "line 3", "write it as in http://proxy.example:3128"),
            ("[network]\nproxy = \"not a url\"", "line 2", "is not the URL of a proxy"),
            ("[network]\nproxy = \"http://proxy:65536\"", "line 2", "a number from 1 to 65535"),
            ("[network]\nproxy = \"http://me:sec#ret@proxy:1\"", "line 2", "write %23"),
            ("[agent]\nstart_on_demand = True", "line 2", "write true, in small letters"),
            ("[network\n", "line 1", "[network]"),
        ])
    func namesTheFileTheLineAndTheRemedy(text: String, line: String, remedy: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: false) }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(
            error?.message.hasPrefix("\(path):\(line.dropFirst("line ".count)): ") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(remedy) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [("[network]\n\nca_file", 3), ("[confirmation]\naskpass", 2)])
    func namesTheLineOfAFileThatCannotBeUsed(key: String, line: Int) throws {
        let folder = try TemporaryFolder()
        let (path, named) = (folder.file("config.toml"), folder.file("named"))
        try "\(key) = \"\(named)\"\n".write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try Configuration(userFile: path, isRequired: true)
        let missing = #expect(throws: TokenError.self) { try configuration.requireNamedFiles() }
        #expect(missing?.message.hasPrefix("\(path):\(line): ") == true, "\(missing?.message ?? "")")
        #expect(missing?.message.hasSuffix("name another file, or remove the line") == true)
        // It has no certificate, and nobody can run it.
        #expect(FileManager.default.createFile(atPath: named, contents: Data()))
        #expect(chmod(named, 0o600) == 0)
        #expect(throws: TokenError.self) { try configuration.requireNamedFiles() }
        #expect(chmod(named, 0o722) == 0)
        let open = #expect(throws: TokenError.self) { try configuration.requireNamedFiles() }
        #expect(open?.message.hasSuffix("chmod go-w \(named)") == true, "\(open?.message ?? "")")
    }

    /// One would take the place of the other, however the path is written.
    @Test(arguments: ["agent.sock", "./agent.sock"]) func refusesTheAgentsSocketForMeasurements(name: String) throws {
        let folder = try TemporaryFolder()
        let configuration = try Configuration(decoding: "[metrics]\nsocket = \"\(folder.path)/\(name)\"\n".utf8)
        let error = #expect(throws: TokenError.self) {
            try configuration.requireMetricsSocket(besides: folder.file("agent.sock"))
        }
        #expect(error?.message.contains("it is the agent's socket") == true, "\(error?.message ?? "")")
    }

    @Test func refusesAFileInThePlaceOfTheSocketForMeasurements() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("metrics.sock")
        try "mine".write(toFile: path, atomically: false, encoding: .utf8)
        let configuration = try Configuration(decoding: "[metrics]\nsocket = \"\(path)\"\n".utf8)
        let error = #expect(throws: TokenError.self) {
            try configuration.requireMetricsSocket(besides: folder.file("agent.sock"))
        }
        #expect(error?.message.contains("it exists and is not a socket") == true, "\(error?.message ?? "")")
    }

    #if os(Linux)
        /// Other systems have no such names.
        @Test func saysThatTheNameOfAFileIsNotUTF8() throws {
            let folder = try TemporaryFolder()
            let system = folder.file("config.toml.system/conf.d")
            try FileManager.default.createDirectory(atPath: system, withIntermediateDirectories: true)
            let path = Array("\(system)/r".utf8) + [0xFC] + Array("gel.toml".utf8) + [0]
            let file = open(path.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            close(file)
            let error = #expect(throws: TokenError.self) {
                try Configuration(userFile: folder.file("config.toml"), isRequired: false)
            }
            #expect(error?.message.contains("the name of the file is not UTF-8") == true, "\(error?.message ?? "")")
        }
    #endif

    @Test func requiresOnlyAFileThatWasNamed() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("none.toml")
        #expect(try Configuration(userFile: path, isRequired: false).proxy == nil)
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
        #expect(error?.message.contains("\(path) does not exist; “ssoctl init” makes it") == true)
        #expect(throws: TokenError.self) { try Configuration(userFile: folder.path, isRequired: true) }
    }

    @Test func readsNoMoreThanTheLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("large.toml")
        try Data(repeating: UInt8(ascii: "\n"), count: Configuration.sizeLimit).write(to: URL(fileURLWithPath: path))
        #expect(throws: Never.self) { try Configuration(userFile: path, isRequired: true) }
        try Data(repeating: UInt8(ascii: "\n"), count: Configuration.sizeLimit + 1).write(
            to: URL(fileURLWithPath: path))
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
        #expect(error?.message.contains("\(Configuration.sizeLimit)") == true)
    }

    /// A pipe without a writer would keep the agent waiting, and a device has no end.
    @Test func readsARegularFileOnly() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/dev/zero"] {
            let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
            #expect(error?.message.contains("not a regular file") == true, "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [0o620, 0o602, 0o666])
    func refusesAFileThatOthersMayChange(mode: Int) throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(in: folder)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: false) }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(error?.message.contains("chmod go-w \(path)") == true, "\(error?.message ?? "")")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(try Configuration(userFile: path, isRequired: true).proxy?.value == "http://proxy:3128")
    }

    @Test func refusesAFileInAFolderThatOthersMayChange() throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(in: folder)
        let inner = folder.file("folder")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: inner)
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
        #expect(error?.message.contains("chmod go-w \(inner)") == true, "\(error?.message ?? "")")
        // The same by a symbolic link from a folder that others cannot change.
        let link = folder.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: inner)
        #expect(throws: TokenError.self) { try Configuration(userFile: link + "/config.toml", isRequired: true) }
        // Entries of a sticky folder, such as /tmp, can be replaced by their owner only.
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: inner)
        #expect(throws: Never.self) { try Configuration(userFile: path, isRequired: true) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func refusesAFileAndAFolderOfAnotherUser() throws {
        let folder = try TemporaryFolder()
        let path = try Self.file(in: folder)
        #expect(chown(path, 65534, 65534) == 0)
        let error = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
        // A command that changes the owner would make what the other user has written trusted.
        #expect(error?.message.contains("look at what is in it") == true, "\(error?.message ?? "")")
        #expect(error?.details.nextCommand == "ls -l \(path)")
        #expect(chown(path, 0, 0) == 0)
        #expect(chown(folder.file("folder"), 65534, 65534) == 0)
        let other = #expect(throws: TokenError.self) { try Configuration(userFile: path, isRequired: true) }
        #expect(other?.message.contains("belongs to user 65534") == true, "\(other?.message ?? "")")
    }

    /// Writes a configuration into a folder of the temporary one, and returns its path.
    private static func file(in folder: TemporaryFolder) throws -> String {
        try FileManager.default.createDirectory(
            atPath: folder.file("folder"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let path = folder.file("folder/config.toml")
        try "[network]\nproxy = 'http://proxy:3128'\n".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}

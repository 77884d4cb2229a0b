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
        let configuration = try Configuration(path: path, isRequired: true)
        #expect(configuration.caFile == "/etc/ssl/company.pem")
        #expect(configuration.proxy == "http://proxy:3128")
    }

    @Test(arguments: ["", "[network]\n", "# nothing\n"])
    func setsNothingWithoutKeys(text: String) throws {
        let configuration = try Configuration(decoding: text.utf8)
        #expect(configuration.caFile == nil)
        #expect(configuration.proxy == nil)
    }

    @Test(
        arguments: [
            ("[network]\nca_fiel = \"x\"", "line 2", "use ca_file or proxy"),
            ("proxy = \"x\"", "line 1", "below the line [network]"),
            ("[network]\n\n[log]\nlevel = 1", "line 4", "use [network]"),
            ("[audit]\nname = true", "line 2", "use destination or names"),
            ("[audit]\nnames = 1", "line 2", "true or false"),
            ("[audit]\ndestination = \"disk\"", "line 2", "file, journal, off"),
            ("[confirmation]\nprogram = \"x\"", "line 2", "use askpass"),
            ("[confirmation]\naskpass = \"x\"", "line 2", "absolute path"),
            ("[network]\nproxy = 1", "line 2", "quotation marks"), ("[network\n", "line 1", "[network]"),
        ])
    func namesTheFileTheLineAndTheRemedy(text: String, line: String, remedy: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let error = #expect(throws: TokenError.self) { try Configuration(path: path, isRequired: false) }
        #expect(error?.code == .invalidDeveloperParameter)
        for part in [path, line, remedy] { #expect(error?.message.contains(part) == true, "\(error?.message ?? "")") }
    }

    @Test func requiresOnlyAFileThatWasNamed() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("none.toml")
        #expect(try Configuration(path: path, isRequired: false).proxy == nil)
        let error = #expect(throws: TokenError.self) { try Configuration(path: path, isRequired: true) }
        #expect(error?.message.contains(path) == true)
        #expect(throws: TokenError.self) { try Configuration(path: folder.path, isRequired: true) }
    }

    @Test func readsNoMoreThanTheLimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("large.toml")
        try Data(repeating: UInt8(ascii: "\n"), count: Configuration.sizeLimit).write(to: URL(fileURLWithPath: path))
        #expect(throws: Never.self) { try Configuration(path: path, isRequired: true) }
        try Data(repeating: UInt8(ascii: "\n"), count: Configuration.sizeLimit + 1).write(
            to: URL(fileURLWithPath: path))
        let error = #expect(throws: TokenError.self) { try Configuration(path: path, isRequired: true) }
        #expect(error?.message.contains("\(Configuration.sizeLimit)") == true)
        let endless = #expect(throws: TokenError.self) { try Configuration(path: "/dev/zero", isRequired: true) }
        #expect(endless?.message.contains("\(Configuration.sizeLimit)") == true)
    }
}

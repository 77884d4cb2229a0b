internal import AccessPolicy
internal import AgentSocket
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentConfiguration

@Suite(.bounded) struct ConfiguredAppTests {
    @Test func readsAppsAndDefaults() throws {
        let text = """
            [apps.graph]
            client_id = "app-1"
            tenant = "Contoso.com"
            scopes = ["User.Read Mail.Read", "Files.Read"]
            [apps."old.mail"]
            client_id = 'app-2'
            authority = "https://login.contoso.com/connect"
            authority_kind = "openid"
            resource = "https://mail.contoso.com"
            redirect_uri = "http://localhost:8400"
            sharing_group = "mail"
            [apps.gov]
            client_id = "app-3"
            cloud = "usgov"
            [defaults]
            app = "graph"
            account = "alice@contoso.com"
            """
        let configuration = try Configuration(decoding: text.utf8)
        #expect(configuration.apps.map(\.name) == ["gov", "graph", "old.mail"])
        let graph = try #require(configuration.app(named: "graph"))
        #expect(graph.authority?.url == "https://login.microsoftonline.com/contoso.com")
        #expect(graph.scopes == ["User.Read", "Mail.Read", "Files.Read"])
        let mail = try #require(configuration.app(named: "old.mail"))
        #expect(mail.authority?.kind == .openID)
        #expect(mail.resource == "https://mail.contoso.com" && mail.redirectURI == "http://localhost:8400")
        #expect(mail.sharingGroup.name == "mail")
        #expect(configuration.app(named: "gov")?.authority?.url == "https://login.microsoftonline.us/common")
        #expect(configuration.defaultApp?.value == "graph" && configuration.defaultApp?.line == 16)
        #expect(configuration.defaultAccount?.value == "alice@contoso.com")
    }

    @Test(arguments: [
        ("public", "login.microsoftonline.com"), ("usgov", "login.microsoftonline.us"),
        ("china", "login.partner.microsoftonline.cn"),
    ])
    func takesTheHostOfTheCloud(cloud: String, host: String) throws {
        let text = "[apps.a]\nclient_id = \"x\"\ntenant = \"contoso.com\"\ncloud = \"\(cloud)\""
        #expect(try Configuration(decoding: text.utf8).app(named: "a")?.authority?.url == "https://\(host)/contoso.com")
    }

    @Test(arguments: ["http://localhost:8400/x", "msauth.com.example.app://auth", "urn:ietf:wg:oauth:2.0:oob"])
    func acceptsARedirectURIOfAnyScheme(uri: String) throws {
        let text = "[apps.a]\nclient_id = \"x\"\nredirect_uri = \"\(uri)\""
        #expect(try Configuration(decoding: text.utf8).app(named: "a")?.redirectURI == uri)
    }

    /// Only Entra ID issues a token for one resource.
    @Test func acceptsScopesOfSeveralResourcesAtAnotherProvider() throws {
        let text = """
            [apps.a]
            client_id = "x"
            authority = "https://login.contoso.com"
            authority_kind = "openid"
            scopes = ["read", "https://vault.azure.net/.default"]
            """
        #expect(try Configuration(decoding: text.utf8).app(named: "a")?.scopes.count == 2)
    }

    @Test(arguments: [
        ("[apps.a]\nscopes = [\"S\"]", 1, "client_id"), ("[apps.a]\nclient_id = \" \"", 2, "client_id"),
        ("[apps.a]\nclient_di = \"x\"", 2, "use client_id"), ("[apps]\nclient_id = \"x\"", 1, "[apps.graph]"),
        ("[apps.-a]\nclient_id = \"x\"", 1, "not a name"), ("[apps.'a b']\nclient_id = \"x\"", 1, "not a name"),
        ("[apps.a]\nclient_id = \"x\"\nauthority = \"ftp://x/y\"", 3, "https"),
        ("[apps.a]\nclient_id = \"x\"\nauthority = \"https://x/y\"\ntenant = \"z\"", 3, "remove"),
        ("[apps.a]\nclient_id = \"x\"\ntenant = \"a/b\"", 3, "tenant"),
        ("[apps.a]\nclient_id = \"x\"\ncloud = \"mars\"", 3, "public, usgov, china"),
        ("[apps.a]\nclient_id = \"x\"\nredirect_uri = \"nonsense\"", 3, "http://localhost"),
        (
            "[apps.a]\nclient_id = \"x\"\nscopes = [\"Mail.Read\", \"https://vault.azure.net/.default\"]", 3,
            "2 resources"
        ),
        ("[apps.a]\nclient_id = \"x\"\nauthority_kind = \"openid\"", 1, "authority"),
        ("[apps.a]\nclient_id = \"x\"\nscopes = [\"S\"]\nresource = \"R\"", 1, "remove one"),
        ("[apps.a]\nclient_id = \"x\"\n[apps.a]", 3, "twice"), ("[apps.a.b]\nclient_id = \"x\"", 1, "quotation marks"),
        ("[apps.a]\nclient_id = \"x\"\nscopes = [\"S\", \" \"]", 3, "blank"),
        ("[apps.a]\nclient_id = \"x\"\nscopes = [\"User.Read\u{1F511}\"]", 3, "not a scope"),
        ("[apps.a]\nclient_id = \"x\"\nauthority = \"\"", 3, "“authority” cannot be used"),
        ("[\"apps.a\"]\nclient_id = \"x\"", 1, "not a table"), ("[network.x]\nproxy = \"y\"", 1, "two names"),
        ("[defaults]\napp = \"a b\"", 2, "not a name"), ("[defaults]\naccount = \"\"", 2, "blank"),
        ("[defaults]\nap = \"a\"", 2, "use app or account"),
    ])
    func namesTheLineAndTheRemedy(text: String, line: Int, part: String) {
        let error = #expect(throws: TOMLError.self) { try Configuration(decoding: text.utf8) }
        #expect(error?.line == line && error?.reason.contains(part) == true, "\(error.map { "\($0)" } ?? "")")
    }

    /// The remedy would be a mistake itself.
    @Test func writesANameWithADotAsTheFileHasIt() throws {
        let configuration = try Configuration(decoding: "[defaults]\napp = \"contoso.notes\"\n".utf8)
        let error = #expect(throws: TokenError.self) { try configuration.requireDefaultApp() }
        #expect(error?.message.contains("add [apps.\"contoso.notes\"]") == true, "\(error?.message ?? "")")
        #expect(throws: Never.self) {
            try Configuration(decoding: "[apps.\"contoso.notes\"]\nclient_id = \"x\"\n".utf8)
        }
    }

    @Test func readsTheSystemsFilesFirstInTheOrderOfTheirNames() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("conf.d"), withIntermediateDirectories: false)
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
        }
        let rule = "\n[[rule]]\nrequests = [\"all\"]\neffect = "
        try write("config.toml", "[network]\nproxy = \"http://a\"\nca_file = \"/a\"" + rule + "\"deny\"")
        try write("conf.d/2.toml", "[apps.a]\nclient_id = \"two\"\n")
        try write("conf.d/10.toml", "[apps.a]\nclient_id = \"ten\"\n[apps.b]\nclient_id = \"ten\"\n")
        try write("conf.d/.hidden.toml", "nonsense")
        try write("conf.d/notes.txt", "nonsense")
        try write("user.toml", "[network]\nproxy = \"http://u\"" + rule + "\"allow\"")
        let environment = AgentEnvironment(variables: [
            "SSO_AGENT_SYSTEM_CONFIG": folder.path, "SSO_AGENT_CONFIG": folder.file("user.toml"),
        ])
        let configuration = try Configuration(ConfigurationFiles(environment))
        #expect(
            configuration.files == ["config.toml", "conf.d/10.toml", "conf.d/2.toml", "user.toml"].map(folder.file))
        #expect(configuration.apps.map(\.clientID.text) == ["two", "ten"])
        #expect(configuration.proxy?.value == "http://u" && configuration.caFile?.value == "/a")
        // The first rule that covers a request decides.
        #expect(configuration.rules.map(\.effect) == [.deny, .allow])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.file("conf.d/2.toml"))
        let error = #expect(throws: TokenError.self) { try Configuration(ConfigurationFiles(environment)) }
        #expect(error?.message.contains("chmod go-w") == true)
    }

    /// Where the link should lead, as on a disk that is not mounted yet, there may be rules that deny something.
    @Test(arguments: ["system", "system/conf.d"]) func refusesALinkThatLeadsNowhere(name: String) throws {
        let folder = try TemporaryFolder()
        if name != "system" {
            try FileManager.default.createDirectory(atPath: folder.file("system"), withIntermediateDirectories: false)
        }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(name), withDestinationPath: folder.file("later"))
        let files = ConfigurationFiles(
            AgentEnvironment(variables: [
                "SSO_AGENT_SYSTEM_CONFIG": folder.file("system"), "XDG_CONFIG_HOME": folder.path,
            ]))
        let error = #expect(throws: TokenError.self) { try Configuration(files) }
        #expect(error?.message.contains("\(folder.file(name)) cannot be read: it is a link") == true)
        try FileManager.default.createDirectory(atPath: folder.file("later"), withIntermediateDirectories: false)
        #expect(try Configuration(files).files.isEmpty)
    }

    @Test func requiresTheUsersFileOnlyIfItIsNamed() throws {
        let folder = try TemporaryFolder()
        let variables = ["SSO_AGENT_SYSTEM_CONFIG": folder.path, "XDG_CONFIG_HOME": folder.path]
        #expect(try Configuration(ConfigurationFiles(AgentEnvironment(variables: variables))).files.isEmpty)
        let named = ConfigurationFiles(AgentEnvironment(variables: variables), named: folder.file("none.toml"))
        #expect(throws: TokenError.self) { try Configuration(named) }
    }

    /// An agent that reads the same files of the system, and no file of the user, has no configuration of its own.
    @Test func tellsTheUsersFileOfAnotherEnvironment() {
        let files = ConfigurationFiles(
            AgentEnvironment(variables: ["SSO_AGENT_SYSTEM_CONFIG": "/etc/x", "SSO_AGENT_CONFIG": "/home/a/own.toml"]))
        for same in [[], ["/etc/x/config.toml"], ["/etc/x/conf.d/1.toml"], ["/etc/x/config.toml", "/home/a/own.toml"]] {
            #expect(files.otherUserFile(in: same) == nil)
        }
        #expect(files.otherUserFile(in: ["/etc/x/config.toml", "/home/a/other.toml"]) == "/home/a/other.toml")
    }
}

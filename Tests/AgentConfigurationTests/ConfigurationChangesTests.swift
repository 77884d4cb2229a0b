internal import AgentConfiguration
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What a running agent takes from a configuration that was read again, and what it cannot take.
@Suite(.bounded) struct ConfigurationChangesTests {
    private static func read(_ text: String) throws -> Configuration {
        let folder = try TemporaryFolder()
        let path = folder.file("config.toml")
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return try Configuration(userFile: path, isRequired: true)
    }

    @Test(arguments: ["[network]\nallow_loopback_http = true\n", "[metrics]\nsocket = \"/run/metrics.sock\"\n"])
    func namesNoChangeOfAValueThatAnOptionDecides(text: String) throws {
        var (without, with) = (try Self.read(""), try Self.read(text))
        without.yieldToOptions(allowsLoopbackHTTP: true, hasMetricsSocket: true)
        with.yieldToOptions(allowsLoopbackHTTP: true, hasMetricsSocket: true)
        for (running, read) in [(without, with), (with, without)] {
            let changes = ConfigurationChanges(from: running, to: read, programs: [])
            #expect(changes.applied.isEmpty && changes.awaitingRestart.isEmpty)
            #expect(changes.configuration.allowsLoopbackHTTP)
        }
    }

    @Test(arguments: [
        ("[audit]\nnames = true\n", ["audit.names = true"], []),
        ("[agent]\nstart_on_demand = false\n", ["agent.start_on_demand = false"], []),
        ("[[rule]]\nrequests = [\"all\"]\neffect = \"deny\"\n", ["rules: 1 instead of 0"], []),
        (
            "[apps.graph]\nclient_id = \"a\"\n[defaults]\napp = \"graph\"\naccount = \"ada\"\n",
            ["apps", "defaults.app", "defaults.account"], []
        ),
        ("[network]\nallow_loopback_http = true\n", ["network.allow_loopback_http = true"], []),
        ("[network]\nca_file = \"/a.pem\"\nproxy = \"http://p:1\"\n", [], ["network.ca_file", "network.proxy"]),
        ("[confirmation]\naskpass = \"/usr/bin/askpass\"\n", [], ["confirmation.askpass"]),
        ("[audit]\ndestination = \"off\"\n", [], ["audit.destination = \"off\""]),
        ("[metrics]\nsocket = \"/run/metrics.sock\"\n", [], ["metrics.socket = \"/run/metrics.sock\""]),
        ("[tokens]\nkept_by_apps = false\n", [], ["tokens.kept_by_apps = false"]),
    ])
    func namesEachChangeOnceAndARestartUntilThereIsOne(text: String, applied: [String], restart: [String]) throws {
        let (running, read) = (try Self.read(""), try Self.read(text))
        let changes = ConfigurationChanges(from: running, to: read, programs: [])
        #expect(changes.applied == applied)
        #expect(changes.awaitingRestart == restart)
        let next = changes.configuration
        let again = ConfigurationChanges(from: next, to: read, programs: [])
        #expect(again.applied.isEmpty)
        #expect(again.awaitingRestart == restart)
    }

    @Test func saysThatRulesDifferIfAsManyAreThere() throws {
        let rule = "[[rule]]\nrequests = [\"all\"]\neffect = "
        let (running, read) = (try Self.read(rule + "\"deny\"\n"), try Self.read(rule + "\"allow\"\n"))
        let changes = ConfigurationChanges(from: running, to: read, programs: [])
        #expect(changes.applied == ["rules: 1, some of which differ"])
        #expect(changes.configuration.rules == read.rules)
    }

    @Test func keepsAllRulesIfOneNamesAProgramThatNoRuleNamed() throws {
        let rule = "[[rule]]\nrequests = [\"all\"]\neffect = \"deny\"\n"
        let running = try Self.read(rule)
        let read = try Self.read(rule + rule + "executable = \"/usr/bin/notes\"\n")
        let changes = ConfigurationChanges(from: running, to: read, programs: [])
        #expect(changes.applied.isEmpty)
        #expect(changes.configuration.rules == running.rules)
        let known = ConfigurationChanges(from: running, to: read, programs: [ExactText("/usr/bin/notes")])
        #expect(known.applied == ["rules: 2 instead of 1"])
        #expect(known.configuration.rules == read.rules)
    }

    /// The path of another file, whose accent is a character of its own.
    @Test func takesAPathThatIsSpelledOtherwiseForAnotherProgram() throws {
        let rule = "[[rule]]\nrequests = [\"all\"]\neffect = \"deny\"\nexecutable = "
        let (name, other) = ("/opt/caf\u{E9}", "/opt/cafe\u{301}")
        let (running, read) = (try Self.read("\(rule)\"\(name)\"\n"), try Self.read("\(rule)\"\(other)\"\n"))
        let unknown = ConfigurationChanges(from: running, to: read, programs: [ExactText(name)])
        #expect(unknown.applied.isEmpty && unknown.awaitingRestart.count == 1)
        let known = ConfigurationChanges(from: running, to: read, programs: [ExactText(name), ExactText(other)])
        #expect(known.applied == ["rules: 1, some of which differ"])
    }
}

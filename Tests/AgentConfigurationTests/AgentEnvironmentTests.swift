internal import AgentSocket
internal import Foundation
internal import TestSupport
internal import Testing

/// What the variables of a process say about the agent, its browser and the units that start it.
@Suite(.bounded) struct AgentEnvironmentTests {
    private func environment(_ name: String, _ value: String) -> AgentEnvironment {
        AgentEnvironment(variables: [name: value])
    }

    @Test(arguments: [
        ("0", false), ("no", false), ("OFF", false), ("False", false), ("1", true), ("yes", true), ("", true),
    ])
    func readsASwitch(value: String, isOn: Bool) {
        #expect(environment("SSO_AGENT_KEEP_TOKENS", value).keepsTokens == isOn)
        #expect(environment("SSO_AGENT_START", value).startsAgent == isOn)
    }

    /// A variable that is not read would leave tokens in the memory of an app whose user has forbidden that.
    @Test func readsTheSwitchOfThisProcess() async {
        await #expect(processExitsWith: .success) {
            setenv("SSO_AGENT_KEEP_TOKENS", "0", 1)
            try #require(!AgentEnvironment.current.keepsTokens)
        }
    }

    /// The agent is started in another folder than the program that starts it.
    @Test func takesARelativeHomeFromTheCurrentFolder() {
        let (relative, current) = (environment("HOME", "home"), FileManager.default.currentDirectoryPath)
        #expect(relative.homeFolder?.hasSuffix("/home") == true && relative.homeFolder?.hasPrefix("/") == true)
        #expect(relative.stateDirectory.hasPrefix("/"), "\(relative.stateDirectory) in \(current)")
        #expect(relative.configFile.hasPrefix("/"), "\(relative.configFile) in \(current)")
    }

    @Test func takesEachCommandOfTheBrowsers() {
        #expect(environment("BROWSER", "firefox:chromium %s").browserCommands == ["firefox", "chromium %s"])
    }

    #if os(Linux)
        @Test(arguments: ["DISPLAY", "WAYLAND_DISPLAY"]) func opensTheBrowserOfAnyDesktop(variable: String) {
            #expect(environment(variable, "0").browserCommands == ["xdg-open"])
            #expect(environment("HOME", "/").browserCommands.isEmpty)
        }

        /// The folders of a user whose service manager runs.
        private func session(_ folder: TemporaryFolder) throws -> AgentEnvironment {
            for path in ["run/systemd/units", "config/systemd/user"] {
                try FileManager.default.createDirectory(atPath: folder.file(path), withIntermediateDirectories: true)
            }
            try Data().write(to: URL(filePath: folder.file("run/systemd/private")))
            return AgentEnvironment(variables: [
                "HOME": folder.path, "XDG_RUNTIME_DIR": folder.file("run"), "XDG_CONFIG_HOME": folder.file("config"),
            ])
        }

        /// Whoever masks the unit wants no agent, neither the manager's nor one that a program starts.
        @Test func tellsAMaskedUnit() throws {
            let folder = try TemporaryFolder()
            let environment = try session(folder)
            let unit = folder.file("config/systemd/user/sso-agent.socket")
            try Data().write(to: URL(filePath: unit))
            #expect(ServiceUnit.state(environment) == .reachable)
            try FileManager.default.removeItem(atPath: unit)
            try FileManager.default.createSymbolicLink(atPath: unit, withDestinationPath: "/dev/null")
            #expect(ServiceUnit.state(environment) == .masked)
            let command = ServiceUnit.startCommand(environment)
            #expect(command.hasPrefix("systemctl --user unmask sso-agent.socket"), "\(command)")
            #expect(command.hasSuffix(" && systemctl --user enable --now sso-agent.socket"), "\(command)")
        }

        /// The link that systemd keeps leads to no file: its target is the ID of the invocation.
        @Test func tellsARunningService() throws {
            let folder = try TemporaryFolder()
            let environment = try session(folder)
            #expect(!ServiceUnit.isRunning(environment))
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("run/systemd/units/invocation:sso-agent.service"),
                withDestinationPath: "0123456789abcdef0123456789abcdef")
            #expect(ServiceUnit.isRunning(environment))
        }
    #endif
}

internal import PosixFiles

/// The unit with which the user's service manager starts the agent: that of systemd or of launchd.
package enum ServiceUnit {
    /// Whether the service manager of the user has a unit of the agent, and so starts it. A program then starts no agent itself: there
    /// would be two ways to stop and to configure it.
    package static func isInstalled(_ environment: AgentEnvironment = .current) -> Bool {
        environment.hasServiceManager
            && environment.unitFolders.contains { folder in names.contains { FileStatus("\(folder)/\($0)") != nil } }
    }

    /// Whether the service manager runs the agent's service, so that a connection to the unit's socket starts nothing.
    package static func isRunning(_ environment: AgentEnvironment = .current) -> Bool {
        #if os(macOS)
            true
        #else
            // systemd keeps a link with the invocation's ID for each unit that it runs.
            guard let folder = environment.managerFolder else { return false }
            return FileStatus("\(folder)/units/invocation:sso-agent.service", followsLinks: false) != nil
        #endif
    }

    /// The command with which a person starts the agent.
    package static var startCommand: String { isInstalled() ? managerCommand : "sso-agent &" }

    #if os(macOS)
        private static let names = ["sso-agent.plist"]
        private static let managerCommand = "launchctl kickstart gui/$UID/sso-agent"
    #else
        private static let names = ["sso-agent.socket", "sso-agent.service"]
        private static let managerCommand = "systemctl --user enable --now sso-agent.socket"
    #endif
}

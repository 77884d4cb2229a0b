internal import PosixFiles

/// The unit with which the user's service manager starts the agent: that of systemd or of launchd.
package enum ServiceUnit {
    package enum State: Sendable {
        case notInstalled
        /// The service manager starts the agent, or does so when the user enables the unit.
        case reachable
        /// The system has service managers, but that of the user does not run: the user is not logged in, and does not linger.
        case unreachable
    }

    /// Whether the service manager of the user has a unit of the agent, and so starts it. A program then starts no agent itself: there
    /// would be two ways to stop and to configure it, and the unit's could not open the store while the other one runs.
    package static func state(_ environment: AgentEnvironment = .current) -> State {
        let isInstalled = environment.unitFolders.contains { folder in
            names.contains { FileStatus("\(folder)/\($0)") != nil }
        }
        guard isInstalled else { return .notInstalled }
        if environment.hasServiceManager { return .reachable }
        return environment.isRunByServiceManager ? .unreachable : .notInstalled
    }

    /// The command with which the user has the service manager start the agent.
    package static func startCommand(_ environment: AgentEnvironment = .current) -> String {
        #if os(macOS)
            "launchctl kickstart gui/$UID/sso-agent"
        #else
            // systemctl finds the manager by this variable, and in no other way.
            (environment.assumedRuntimeDirectory.map { "XDG_RUNTIME_DIR=\($0) " } ?? "")
                + "systemctl --user enable --now sso-agent.socket"
        #endif
    }

    /// Whether the service manager runs the agent's service, so that a connection to the unit's socket starts nothing.
    package static func isRunning(_ environment: AgentEnvironment = .current) -> Bool {
        #if os(macOS)
            true
        #else
            // systemd keeps a link with the invocation's ID for each unit that it runs.
            guard let folder = environment.runtimeDirectory else { return false }
            return FileStatus("\(folder)/systemd/units/invocation:sso-agent.service", followsLinks: false) != nil
        #endif
    }

    #if os(macOS)
        private static let names = ["sso-agent.plist"]
    #else
        private static let names = ["sso-agent.socket", "sso-agent.service"]
    #endif
}

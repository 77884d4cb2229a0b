internal import PosixFiles

/// The unit with which the user's service manager starts the agent: that of systemd or of launchd.
package enum ServiceUnit {
    package enum State: Sendable {
        case notInstalled
        /// The service manager starts the agent, or does so when the user enables the unit.
        case reachable
        /// The user or an administrator has turned the unit off (`systemctl mask`): it cannot even be enabled.
        case masked
        /// The system has service managers, but that of the user does not run: the user is not logged in, and does not linger.
        case unreachable
    }

    /// Whether the service manager of the user has a unit of the agent, and so starts it. A program then starts no
    /// agent itself: there would be two ways to stop and to configure it, and the unit's could not open the store while
    /// the other one runs. A user who has masked the unit wants no other agent either.
    package static func state(_ environment: AgentEnvironment = .current) -> State {
        guard names.contains(where: { folder(of: $0, environment) != nil }) else { return .notInstalled }
        guard environment.hasServiceManager else {
            return environment.isRunByServiceManager ? .unreachable : .notInstalled
        }
        return maskedFiles(environment).isEmpty ? .reachable : .masked
    }

    /// The command with which the user makes the service manager start the agent.
    package static func startCommand(_ environment: AgentEnvironment = .current) -> String {
        #if os(macOS)
            "launchctl kickstart gui/$UID/sso-agent"
        #else
            (unmaskCommands(environment) + [systemctl("enable --now sso-agent.socket", environment)])
                .joined(separator: " && ")
        #endif
    }

    #if !os(macOS)
        /// The commands that make masked units usable again. Each undoes the masks of one kind: the user's, those until the log-out, and the
        /// administrator's, which is removed for all users.
        private static func unmaskCommands(_ environment: AgentEnvironment) -> [String] {
            let files = maskedFiles(environment)
            let (runtime, global) = (environment.runtimeUnitFolder, AgentEnvironment.globalUnitFolder)
            let kinds: [(command: String, names: [String])] = [
                (
                    systemctl("unmask", environment),
                    files.filter { $0.folder != runtime && $0.folder != global }.map(\.name)
                ),
                (systemctl("unmask --runtime", environment), files.filter { $0.folder == runtime }.map(\.name)),
                ("sudo systemctl --global unmask", files.filter { $0.folder == global }.map(\.name)),
            ]
            return kinds.filter { !$0.names.isEmpty }.map { ([$0.command] + $0.names).joined(separator: " ") }
        }

        /// A command for the manager of the user's units, which systemctl finds by this variable, and in no other way.
        private static func systemctl(_ words: String, _ environment: AgentEnvironment) -> String {
            (environment.assumedRuntimeDirectory.map { "XDG_RUNTIME_DIR=\($0) " } ?? "") + "systemctl --user \(words)"
        }
    #endif

    /// The units whose files are links to `/dev/null`, and the folders of these.
    private static func maskedFiles(_ environment: AgentEnvironment) -> [(name: String, folder: String)] {
        names.compactMap { name in
            guard let folder = folder(of: name, environment),
                FileStatus("\(folder)/\(name)", followsLinks: false)?.kind == .symbolicLink,
                FileStatus("\(folder)/\(name)")?.kind == .device
            else { return nil }
            return (name, folder)
        }
    }

    /// The first folder that has the unit, which is the one that counts.
    private static func folder(of name: String, _ environment: AgentEnvironment) -> String? {
        environment.unitFolders.first { FileStatus("\($0)/\(name)") != nil }
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

internal import PosixFiles
internal import TokenModel

/// What helps if no agent listens at a path.
package struct StartAdvice: Sendable {
    /// The end of a sentence. If there is a command that starts the agent, it follows `commandMark`.
    package let text: String

    /// What precedes the command with which the user starts the agent.
    package static let commandMark = "start it with: "

    private init(command: String) { text = Self.commandMark + command }

    private init(text: String) { self.text = text }

    /// - Parameters:
    ///   - path: the socket's.
    ///   - isolation: what `SessionIsolation.reason` has returned.
    package init(forSocket path: String, isolation: String?, _ environment: AgentEnvironment) {
        let own = FileStatus.effectiveUser
        if let owner = environment.socketOwner, owner != own {
            self.init(
                text: "user \(owner), who has published it, has to do that again, with: ssoctl publish --socket "
                    + "\(path.shellWord) --uid \(own) …")
        } else if let isolation {
            self.init(text: "this program \(isolation), as in a sandbox; start the agent outside of that")
        } else {
            self.init(forSocket: path, ServiceUnit.state(environment), environment)
        }
    }

    private init(forSocket path: String, _ unit: ServiceUnit.State, _ environment: AgentEnvironment) {
        switch unit {
        case .reachable where path == environment.unitSocketPath, .masked where path == environment.unitSocketPath:
            self.init(command: ServiceUnit.startCommand(environment))
        case .unreachable where path == environment.defaultSocketPath:
            self.init(
                text: "its unit is installed, and no service manager of the user's is running: log in, or have one "
                    + "always run, with: loginctl enable-linger")
        default:
            let isDefault = path == environment.defaultSocketPath && path == environment.socketPath
            self.init(command: isDefault ? "sso-agent &" : "sso-agent --socket \(path.shellWord) &")
        }
    }
}

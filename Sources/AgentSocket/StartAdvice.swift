internal import PosixFiles
internal import TokenModel

/// What helps if no agent listens at a path.
package struct StartAdvice: Sendable, Equatable {
    /// The command with which the user starts the agent; nil if none of this program's would help.
    package let command: String?
    /// The same as the end of a sentence, or what to do instead.
    package let text: String

    private init(command: String) {
        (self.command, text) = (command, "start it with: \(command)")
    }

    private init(text: String) { (command, self.text) = (nil, text) }

    /// - Parameter path: the socket's.
    package init(forSocket path: String, _ environment: AgentEnvironment = .current) {
        let own = FileStatus.effectiveUser
        if let owner = environment.socketOwner, owner != own {
            self.init(
                text: "user \(owner), who has published it, has to do that again, with: ssoctl publish --socket "
                    + "\(path.shellWord) --uid \(own) …")
        } else if let reason = SessionIsolation.reason(environment) {
            self.init(text: "this program \(reason), as in a sandbox; start the agent outside of that")
        } else {
            self.init(forSocket: path, ServiceUnit.state(environment), environment)
        }
    }

    private init(forSocket path: String, _ unit: ServiceUnit.State, _ environment: AgentEnvironment) {
        switch unit {
        case .reachable where path == environment.unitSocketPath:
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

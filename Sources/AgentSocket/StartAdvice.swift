internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The advice to a user if no agent listens at a path.
package struct StartAdvice: Sendable {
    /// The end of a sentence; nil if the command is enough.
    private let words: String?
    private let remedy: Remedy?

    /// - Parameter publishing: the command that publishes the socket again, if an agent may have published it.
    private init(command: String, publishing: String? = nil) {
        words = publishing.map { "if it was published, that has ended; \($0) publishes it again" }
        remedy = words == nil ? .start(command) : .otherwiseStart(command)
    }

    private init(_ words: String, _ remedy: Remedy? = nil) { (self.words, self.remedy) = (words, remedy) }

    /// The problem that no agent listens, with what helps.
    package func problem(_ statement: String) -> Problem {
        Problem(statement + (words.map { "; \($0)" } ?? ""), remedy)
    }

    /// - Parameters:
    ///   - path: the socket's.
    ///   - isolation: what `SessionIsolation.reason` has returned.
    package init(forSocket path: String, isolation: String?, _ environment: AgentEnvironment) {
        let own = FileStatus.effectiveUser
        if environment.socketOwner == own, path == environment.socketPath {
            self.init("it was published, and that has ended; to publish it again", .purpose(Self.publishCommand(path)))
        } else if let owner = environment.socketOwner, owner != own {
            self.init(
                "user \(owner), who has published it, has to do that again, with: ssoctl publish --socket "
                    + "\(FileStatus.absolutePath(path).shellWord) --uid \(own) …")
        } else if let isolation {
            self.init("this program \(isolation), as in a sandbox; start the agent outside of that")
        } else {
            self.init(forSocket: path, ServiceUnit.state(environment), environment)
        }
    }

    /// The command that publishes the socket again; nil unless a variable names it, no agent has ever listened there with a lock file, and
    /// an agent of this user has listened at the standard path.
    private static func publishing(_ path: String, _ environment: AgentEnvironment) -> String? {
        let standard = environment.defaultSocketPath
        guard path == environment.socketPath, path != standard, FileStatus("\(path).lock") == nil,
            FileStatus(standard, followsLinks: false)?.kind == .socket
        else { return nil }
        return "“\(publishCommand(path))”"
    }

    /// Whether a variable names the socket, and an agent of this user listens at the standard path: one at this socket could not open the
    /// store.
    private static func isStoreInUse(besides path: String, _ unit: ServiceUnit.State, _ environment: AgentEnvironment)
        -> Bool
    {
        let standard = environment.defaultSocketPath
        guard path == environment.socketPath, path != standard, !environment.namesStateDirectory,
            // A connection would start the unit's agent.
            unit != .reachable || ServiceUnit.isRunning(environment),
            case .connected(let socket)? = try? UnixSocket.connect(to: standard)
        else { return false }
        close(socket)
        return true
    }

    /// The command that publishes a socket, which takes an absolute path only, at the standard one of the agent instead of the one that the
    /// variables name.
    private static func publishCommand(_ path: String) -> String {
        let path = FileStatus.absolutePath(path).shellWord
        return "env -u SSO_AGENT_SOCK -u SSO_AGENT_OWNER ssoctl publish --socket \(path) --app NAME"
    }

    private init(forSocket path: String, _ unit: ServiceUnit.State, _ environment: AgentEnvironment) {
        switch unit {
        case .reachable where path == environment.unitSocketPath, .masked where path == environment.unitSocketPath:
            self.init(command: ServiceUnit.startCommand(environment))
        case .unreachable where path == environment.defaultSocketPath:
            self.init(
                "its unit is installed, and no service manager of the user's is running: log in, or, to have one always run",
                .purpose("loginctl enable-linger"))
        case _ where Self.isStoreInUse(besides: path, unit, environment):
            self.init(
                "if it was published, that has ended; “\(Self.publishCommand(path))” publishes it again; to use your agent at "
                    + environment.defaultSocketPath, .purpose("unset SSO_AGENT_SOCK"))
        default:
            let isDefault = path == environment.defaultSocketPath && path == environment.socketPath
            let command = isDefault ? "sso-agent &" : "sso-agent --socket \(path.shellWord) &"
            self.init(command: command, publishing: Self.publishing(path, environment))
        }
    }
}

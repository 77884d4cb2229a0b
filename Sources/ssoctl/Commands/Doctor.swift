internal import AgentClient
internal import AgentSocket
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Checks the agent and its environment, and prints remedies.
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check the socket, its folder, the state folder, the key, the published sockets, the clock, the redirect of browser sign-ins and the token endpoint."
    )

    @Option(help: "The authority whose token endpoint to try.", completion: Candidates.authority)
    var authority: String?

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        struct Check: Encodable {
            var name: String
            var ok: Bool
            var detail: String
            var hint: String?

            init(_ check: HealthCheck) {
                // One remedy for a defect: the command of the error, if it has one.
                let advice = Advice(check.detail)
                (name, ok, detail) = (check.name, check.ok, advice.message)
                hint = advice.command ?? check.hint
            }
        }

        var checks: [Check]
        var isAgentThere = true

        enum CodingKeys: CodingKey { case checks }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        var request = Diagnose()
        if let authority { request.authority = try Authority(authority) }
        let folder = HealthCheck.socketFolder(of: agent.socketPath)
        do throws(TokenError) {
            let checks = try await agent.diagnose(request).checks
            let socket = HealthCheck(name: "socket", ok: true, detail: "the agent answers at \(agent.socketPath)")
            return Printout(checks: ([socket, folder] + checks).map(Printout.Check.init))
        } catch  where error.code == .agentUnavailable || error.code == .peerNotAuthorized {
            let socket = HealthCheck(
                name: "socket", ok: false, detail: Advice(error.message).message,
                hint: "start the agent: \(ServiceUnit.startCommand)")
            return Printout(checks: [socket, folder].map(Printout.Check.init), isAgentThere: false)
        }
    }

    func status(of printout: Printout) -> ExitStatus {
        guard printout.isAgentThere else { return .agentUnavailable }
        return printout.checks.allSatisfy(\.ok) ? .done : .failed
    }

    func describe(_ printout: Printout) -> String? {
        printout.checks.map { check in
            let line = "\(check.ok ? "ok  " : "FAIL") \(check.name): \(check.detail)"
            return check.hint.map { "\(line)\n     → \($0)" } ?? line
        }.joined(separator: "\n")
    }
}

extension HealthCheck {
    /// Checks the owner and the mode of the socket's directory: no other user may be able to replace the socket.
    fileprivate static func socketFolder(of socketPath: String) -> HealthCheck {
        let folder = socketPath.lastIndex(of: "/").map { String(socketPath[..<$0]) } ?? "."
        guard let status = FileStatus(folder) else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) does not exist",
                hint: "start sso-agent, which creates it")
        }
        let mode = String(status.mode & 0o777, radix: 8)
        guard status.isOwn, !status.isAccessibleToOthers else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) has mode \(mode) and owner \(status.owner)",
                hint: "chmod 0700 \(folder)")
        }
        return HealthCheck(name: "socket folder", ok: true, detail: "\(folder) has mode \(mode)")
    }
}

internal import AgentClient
internal import AgentSocket
internal import ArgumentParser
internal import TokenModel

/// What is wrong, and what to do about it.
struct Doctor: Command {
    static let configuration = CommandConfiguration(
        abstract:
            "Check the socket, its folder, the state folder, the key, the clock, the redirect of browser sign-ins and the token endpoint."
    )

    @Option(help: "The authority whose token endpoint to try.")
    var authority: String?

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        struct Check: Encodable {
            var name: String
            var ok: Bool
            var detail: String
            var hint: String?

            init(_ check: HealthCheck) {
                (name, ok, detail, hint) = (check.name, check.ok, check.detail, check.hint)
            }
        }

        var checks: [Check]
        var isAgentThere = true

        enum CodingKeys: CodingKey { case checks }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        var request = Diagnose()
        if let authority { request.authority = try Authority(authority) }
        let folder = SocketChecks.folder(of: agent.socketPath)
        do throws(TokenError) {
            let checks = try await agent.diagnose(request).checks
            let socket = HealthCheck(name: "socket", ok: true, detail: "the agent answers at \(agent.socketPath)")
            return Printout(checks: ([socket, folder] + checks).map(Printout.Check.init))
        } catch  where error.code == .agentUnavailable || error.code == .peerNotAuthorized {
            let socket = HealthCheck(
                name: "socket", ok: false, detail: error.message, hint: "start the agent: sso-agent &")
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

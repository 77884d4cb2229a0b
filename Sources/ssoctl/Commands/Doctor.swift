internal import AgentClient
internal import AgentConfiguration
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Checks the agent and its environment, and prints remedies.
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the agent, the session, the network settings and the store, and say what helps.",
        discussion: """
            The agent checks its program, its folder, its store and key, its sandbox, the published sockets, the redirect of browser sign-ins, and, \
            with one request to it, the token endpoint and the clock. The command checks the socket, the service unit, lingering, the \
            configuration, the proxy, the file of certificate authorities and the keyring, and finds tokens that other tools have left \
            in plain text. Exit status: 0 if every check has passed, 1 if one has not, 4 if there is no agent.

            Examples:
              ssoctl doctor
              ssoctl doctor graph                  the provider of an app
              ssoctl doctor --authority https://login.microsoftonline.us/contoso.com
              ssoctl doctor --json | jq '.checks[] | select(.ok | not)'
            """)

    @Argument(
        help: "The name of the app whose token endpoint to try; by default that of the default app.",
        completion: Candidates.app)
    var name: String?

    @Option(name: .customLong("app"), help: "The name of the app, as an option.", completion: Candidates.app)
    var option: String?

    @OptionGroup(title: "Identity provider") var provider: ProviderOptions

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

    func validate() throws {
        guard name == nil || option == nil else { throw ValidationError("Name one app: NAME or --app.") }
    }

    /// The authority to try: that of the options, else that of the app, else that of the default app, whose requests have
    /// failed if any have.
    private func authority() throws -> Authority? {
        guard let app = name ?? option else {
            // A configuration that cannot be read is one of the checks.
            return try provider.authority(app: (try? Settings.read())?.defaultAuthority)
        }
        let configured = try Settings.read().app(named: app) {
            CommandLineWords("ssoctl", "doctor", $0) + provider.words
        }
        return try provider.authority(app: configured.authority)
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        try await printout(agent, at: authority())
    }

    private func printout(_ agent: AgentClient, at authority: Authority?) async throws(TokenError) -> Printout {
        var request = Diagnose()
        request.authority = authority
        let folder = HealthCheck.socketFolder(of: agent.socketPath)
        do throws(TokenError) {
            let checks = try await agent.diagnose(request).checks
            let socket = HealthCheck(name: "socket", ok: true, detail: "the agent answers at \(agent.socketPath)")
            let ownChecks = ConfigurationChecks.all(knowsClock: checks.contains { $0.name == "clock" })
            return Printout(
                checks: ([socket, folder] + checks + SessionChecks.all + ownChecks).map(Printout.Check.init))
        } catch  where error.code == .agentUnavailable || error.code == .peerNotAuthorized {
            let advice = Advice(error.message)
            let socket = HealthCheck(
                name: "socket", ok: false, detail: advice.message,
                hint: advice.command.map { "start the agent: \($0)" })
            let ownChecks = SessionChecks.all + ConfigurationChecks.all(knowsClock: false)
            return Printout(checks: ([socket, folder] + ownChecks).map(Printout.Check.init), isAgentThere: false)
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
        let folder = PrivateFiles.parent(of: socketPath)
        guard let status = FileStatus(folder) else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) does not exist",
                hint: "start sso-agent, which creates it")
        }
        let mode = String(status.mode & 0o777, radix: 8)
        guard status.isOwn, !status.isAccessibleToOthers else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) has mode \(mode) and owner \(status.owner)",
                hint: "chmod 0700 \(folder.shellWord)")
        }
        return HealthCheck(name: "socket folder", ok: true, detail: "\(folder) has mode \(mode)")
    }
}

internal import AgentClient
internal import AgentConfiguration
internal import AgentSocket
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Checks the agent and its environment, and prints remedies.
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the agent, the session, the network settings and the store, and say what helps.",
        discussion: """
            The agent checks its program, its folder, its store and key, its sandbox, the audit log, the published sockets, the redirect of \
            browser sign-ins, and, with one request to it, the token endpoint and the clock. The command checks the socket, the service \
            unit, lingering, the configuration, the proxy, the file of certificate authorities and the keyring, and finds tokens that \
            other tools have left in plain text. Exit status: 0 if every check has passed, 1 if one has not, 4 if there is no agent.

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

            init(_ check: HealthCheck) { (name, ok, detail, hint) = (check.name, check.ok, check.detail, check.hint) }
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
            return try provider.values.authority(app: (try? Settings.read())?.defaultAuthority)
        }
        let configured = try Settings.read().app(named: app) {
            CommandLineWords("ssoctl", "doctor", $0) + provider.values.words
        }
        return try provider.values.authority(app: configured.authority)
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        try await printout(agent, at: authority())
    }

    private func printout(_ agent: AgentClient, at authority: Authority?) async throws(TokenError) -> Printout {
        var request = Diagnose()
        request.authority = authority
        // Read after the request, which may start an agent that makes the folder.
        var folder: HealthCheck { .socketFolder(of: agent.socketPath) }
        do throws(TokenError) {
            var checks = try await agent.diagnose(request).checks
            if !AgentEnvironment.current.expectsOwnAgent {
                // As of a failure, no command is taken from another user's agent.
                for index in checks.indices { checks[index].hint = nil }
            }
            let socket = HealthCheck(name: "socket", ok: true, detail: "the agent answers at \(agent.socketPath)")
            let ownChecks = ConfigurationChecks.all(knowsClock: checks.contains { $0.name == "clock" })
            return Printout(
                checks: ([socket, folder] + checks + SessionChecks.all + ownChecks).map(Printout.Check.init))
        } catch  where error.code == .agentUnavailable || error.code == .peerNotAuthorized {
            return Printout(
                checks: Self.ownChecks(.unusableSocket(agent.socketPath, error), folder), isAgentThere: false)
        } catch  where error.code == .timedOut {
            // It accepts connections and does not answer, as a process that was stopped.
            return Printout(checks: Self.ownChecks(.unusableSocket(agent.socketPath, error), folder))
        } catch  where error.code == .requestDenied {
            let published = (try? await agent.status()).flatMap { $0.isOfPublishedSocket ? $0 : nil }
            let detail =
                published != nil
                ? "\(agent.socketPath) is a published socket, which serves tokens only"
                : "the agent answers at \(agent.socketPath), and makes no checks for this program: \(error.message)"
            var checks = Self.ownChecks(HealthCheck(name: "socket", ok: true, detail: detail), folder)
            if let problem = published?.storeProblem {
                let detail = "\(problem); \(TokenError.doctorElsewhere)"
                checks.append(Printout.Check(HealthCheck(name: "store", ok: false, detail: detail)))
            }
            return Printout(checks: checks)
        }
    }

    /// The checks that need no agent, after those of the socket and its folder.
    private static func ownChecks(_ socket: HealthCheck, _ folder: HealthCheck) -> [Printout.Check] {
        ([socket, folder] + SessionChecks.all + ConfigurationChecks.all(knowsClock: false)).map(Printout.Check.init)
    }

    func status(of printout: Printout) -> ExitStatus {
        guard printout.isAgentThere else { return .agentUnavailable }
        return printout.checks.allSatisfy(\.ok) ? .done : .failed
    }

    /// The failures come last, where they are seen on a terminal, and then their number.
    func style(_ printout: Printout) -> StyledText? {
        let failed = printout.checks.filter { !$0.ok }
        let lines = (printout.checks.filter(\.ok) + failed).map { check in
            let hint = check.hint.map { ["     → \($0)"] } ?? []
            let line = StyledText(([" \(check.name): \(check.detail)"] + hint).joinedLines + "\n")
            return (check.ok ? "ok  " : .alarm("FAIL")) + line
        }
        let text = lines.reduce("", +)
        let total = printout.checks.count
        guard !failed.isEmpty else { return text + .green("All \(total) checks passed") }
        return text + .alarm("\(failed.count) of \(total) checks \(failed.count == 1 ? "has" : "have") failed")
    }
}

extension HealthCheck {
    /// The check of a socket at which no agent can be reached, or none answers.
    fileprivate static func unusableSocket(_ path: String, _ error: TokenError) -> HealthCheck {
        if let problem = AgentEnvironment.current.runtimeFolderProblem {
            return HealthCheck(
                name: "socket", ok: false, detail: problem.statement, hint: problem.remedy?.command)
        }
        var hint = error.details.nextCommand
        if hint == "ssoctl doctor" {
            // The error names this very command. What helps is known only if the mode of the socket keeps its user from it.
            let isClosed = FileStatus(path).map { $0.isOwn && $0.kind == .socket && $0.mode & 0o600 != 0o600 } ?? false
            hint = isClosed ? "chmod 0600 \(path.shellWord)" : nil
        }
        return HealthCheck(name: "socket", ok: false, detail: error.statement, hint: hint)
    }

    /// Checks the owner and the mode of the socket's directory, and the directories above it: no other user may be able to replace the
    /// socket. Others may look into it, as into that of a published socket.
    fileprivate static func socketFolder(of socketPath: String) -> HealthCheck {
        let folder = PrivateFiles.parent(of: socketPath)
        guard let status = FileStatus(folder) else {
            let error = SystemError.last
            return error.isFileMissing
                ? HealthCheck(
                    name: "socket folder", ok: false, detail: "\(folder) does not exist",
                    hint: "start sso-agent, which creates it")
                // It may exist, as in the runtime folder of another user.
                : HealthCheck(
                    name: "socket folder", ok: false, detail: "cannot look at \(folder): \(error)",
                    hint: opening(folder))
        }
        guard status.kind == .directory else {
            return HealthCheck(name: "socket folder", ok: false, detail: "\(folder) is not a folder")
        }
        let mode = String(status.mode & 0o777, radix: 8)
        if let command = opening(folder) {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) has mode \(mode), with which you cannot use it",
                hint: command)
        }
        let owner = AgentEnvironment.current.socketOwner
        guard status.isOwnOrRoots || status.owner == owner else {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) belongs to user \(status.owner)",
                hint: "if that user has published the socket to you: export SSO_AGENT_OWNER=\(status.owner)")
        }
        guard !status.isWritableByOthers else {
            return HealthCheck(
                name: "socket folder", ok: false,
                detail: "\(folder) has mode \(mode), so that other users could replace the socket",
                hint: "chmod go-w \(folder.shellWord)")
        }
        // The folders above that of another user's published socket are that user's.
        if AgentEnvironment.current.expectsOwnAgent, let defect = TrustedPath.defect(ofDirectoriesAbove: folder) {
            return HealthCheck(
                name: "socket folder", ok: false, detail: "\(folder) is not safe: \(defect.statement)",
                hint: defect.remedy?.command)
        }
        return HealthCheck(name: "socket folder", ok: true, detail: "\(folder) has mode \(mode)")
    }

    /// The command with which the user may use a folder of theirs again, or the one above that hides it; nil if their modes are not what is
    /// missing. Root needs no mode.
    private static func opening(_ folder: String) -> String? {
        var place = FileStatus.absolutePath(folder)
        while FileStatus(place) == nil, place != "/" { place = PrivateFiles.parent(of: place) }
        guard FileStatus.effectiveUser != 0, let status = FileStatus(place), status.isOwn, status.kind == .directory,
            status.mode & 0o100 == 0
        else { return nil }
        return "chmod u+rwx \(place.shellWord)"
    }
}

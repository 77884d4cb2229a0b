internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Shows the state of the agent.
struct StatusCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of the agent.",
        discussion: """
            Examples:
              ssoctl status
              ssoctl status --json | jq -r .socket
            """)

    @OptionGroup var output: OutputOptions

    @Flag(
        name: .shortAndLong, help: "Show the agent's measurements too: requests, redemptions, connections, the store.")
    var verbose = false

    struct Printout: Encodable {
        /// The agent's process ID; nil at a published socket, as are the values that are not for its users.
        var pid: Int32?
        var version: String
        var protocolVersion: UInt32
        var socket: String
        var uptimeSeconds: Int64?
        /// The number of accounts; nil also if there may be some in a store that is not open.
        var accounts: Int64?
        /// The names of the quarantined files; nil if there are none.
        var quarantined: [String]?
        /// The reason why the store is not open or cannot be written; nil if there is none.
        var storeProblem: String?
        /// The command that helps with `storeProblem`; nil if there is no problem.
        var nextCommand: String?
        /// The paths of the published sockets; nil if there are none.
        var publishedSockets: [String]?
        /// The agent's measurements; nil unless they were asked for.
        var metrics: [MetricJSON]?
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let status = try await agent.status(includesMetrics: verbose)
        // A published socket says nothing about the agent's process and store.
        let isPublished = status.isOfPublishedSocket
        let problem = status.storeProblem.map { isPublished ? "\($0); \(TokenError.doctorElsewhere)" : $0 }
        let isCountKnown = !isPublished && (status.accounts > 0 || status.storeProblem == nil)
        return Printout(
            pid: isPublished ? nil : status.processID, version: status.version, protocolVersion: status.protocolVersion,
            socket: status.socketPath, uptimeSeconds: isPublished ? nil : status.uptimeSeconds,
            accounts: isCountKnown ? status.accounts : nil,
            quarantined: status.quarantined.isEmpty ? nil : status.quarantined, storeProblem: problem,
            nextCommand: problem == nil || isPublished ? nil : status.nextCommand ?? "ssoctl doctor",
            publishedSockets: status.publishedSockets.isEmpty ? nil : status.publishedSockets,
            metrics: verbose ? status.metrics.map(MetricJSON.init) : nil)
    }

    func describe(_ status: Printout) -> String? {
        let accounts = status.accounts.map { "\(Phrases.count($0, "account")), " } ?? ""
        let whole = status.pid.map { pid in
            [
                "sso-agent \(status.version) (process \(pid)) answers at \(status.socket)",
                "up \(Phrases.duration(status.uptimeSeconds ?? 0)), \(accounts)protocol \(status.protocolVersion)",
            ]
        }
        let problem = status.storeProblem.map { ["store: \($0)"] } ?? []
        let remedy = status.nextCommand.map { [Problem.line(of: $0)] } ?? []
        let damage = status.quarantined.map { ["damaged files in quarantine: \($0.joined(separator: ", "))"] } ?? []
        let text = whole ?? ["sso-agent \(status.version) answers at the published \(status.socket)"]
        let published = status.publishedSockets.map { ["published: \($0.joined(separator: ", "))"] } ?? []
        return (text + published + problem + remedy + damage).joinedLines
    }

    func style(_ status: Printout) -> StyledText? {
        guard let metrics = status.metrics else { return describe(status).map { StyledText($0) } }
        return StyledText(describe(status) ?? "") + "\n\n" + MetricTable.text(metrics)
    }
}

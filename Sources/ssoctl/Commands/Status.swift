internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Is the agent there, since when, and how many accounts does it know.
struct Status: Command {
    static let configuration = CommandConfiguration(abstract: "Show whether the agent is there, and how it is.")

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var pid: Int32
        var version: String
        var protocolVersion: UInt32
        var socket: String
        var uptimeSeconds: Int64
        var accounts: Int64
        /// Damaged files that were put aside; left out when there are none.
        var quarantined: [String]?
        /// Why the store is not as it should be; left out when it is.
        var storeProblem: String?
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let status = try await agent.status()
        return Printout(
            pid: status.processID, version: status.version, protocolVersion: status.protocolVersion,
            socket: status.socketPath, uptimeSeconds: status.uptimeSeconds, accounts: status.accounts,
            quarantined: status.quarantined.isEmpty ? nil : status.quarantined, storeProblem: status.storeProblem)
    }

    func describe(_ status: Printout) -> String? {
        let text = """
            sso-agent \(status.version) (process \(status.pid)) answers at \(status.socket)
            up \(status.uptimeSeconds) seconds, \(status.accounts) account\(status.accounts == 1 ? "" : "s"), \
            protocol \(status.protocolVersion)
            """
        let problem = status.storeProblem.map { ["store: \($0)"] } ?? []
        let damage = status.quarantined.map { ["damaged files were put aside: \($0.joined(separator: ", "))"] } ?? []
        return ([text] + problem + damage).joined(separator: "\n")
    }
}

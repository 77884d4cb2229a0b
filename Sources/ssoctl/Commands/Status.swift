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
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let status = try await agent.status()
        return Printout(
            pid: status.processID, version: status.version, protocolVersion: status.protocolVersion,
            socket: status.socketPath, uptimeSeconds: status.uptimeSeconds, accounts: status.accounts)
    }

    func describe(_ status: Printout) -> String? {
        """
        sso-agent \(status.version) (process \(status.pid)) answers at \(status.socket)
        up \(status.uptimeSeconds) seconds, \(status.accounts) account\(status.accounts == 1 ? "" : "s"), \
        protocol \(status.protocolVersion)
        """
    }
}

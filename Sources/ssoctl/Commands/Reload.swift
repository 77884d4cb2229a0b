internal import AgentClient
internal import AgentConfiguration
internal import ArgumentParser
internal import TokenModel

/// Asks the agent to read its configuration again.
struct ReloadCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the agent read its configuration again, and show what has changed.",
        discussion: """
            Rules, audit.names and network.allow_loopback_http are in effect at once, the rules for open connections too. What \
            needs a restart is named. If the configuration cannot be used, the agent keeps the one that it has. SIGHUP does \
            the same.

            Examples:
              ssoctl reload
            """)

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var files: [String]
        var applied: [String]
        var awaitingRestart: [String]
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let reply = try await agent.reloadConfiguration()
        return Printout(files: reply.files, applied: reply.applied, awaitingRestart: reply.awaitingRestart)
    }

    func describe(_ printout: Printout) -> String? {
        let files = printout.files.isEmpty ? "there are no files" : printout.files.joined(separator: ", ")
        let changes =
            printout.applied.map { "in effect: \($0)" } + printout.awaitingRestart.map { "after a restart: \($0)" }
            + (printout.awaitingRestart.isEmpty
                ? [] : ["before the restart, check it with: \(check(printout.files).text)"])
        return (["The configuration was read: \(files)"] + (changes.isEmpty ? ["nothing has changed"] : changes))
            .joinedLines
    }

    /// The command that checks the files that the agent has read.
    private func check(_ files: [String]) -> CommandLineWords {
        let other = ConfigurationFiles.current.otherUserFile(in: files)
        return CommandLineWords("sso-agent", "--check-config") + (other.map { ["--config", $0] } ?? [])
    }
}

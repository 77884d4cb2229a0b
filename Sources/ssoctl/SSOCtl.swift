internal import ArgumentParser
internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

/// The command line of the agent. Each command is in a file of `Commands`.
@main
struct SSOCtl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssoctl",
        abstract: "See who is signed in, sign in and out, and get tokens, through sso-agent.",
        discussion: """
            Every command prints text or, with --json, one JSON document; progress and prompts go to \
            standard error. Exit status: 0 done, 1 failed, 2 interaction required, 3 no such account, 4 the agent \
            cannot be reached, 64 usage.

            Environment: SSO_AGENT_SOCK names the agent's socket, SSO_AGENT_OWNER the ID of another user who has published it, \
            BROWSER the browser for sign-in.
            """,
        version: ProductVersion.text,
        subcommands: [
            StatusCommand.self, AccountsCommand.self, SignInCommand.self, TokenCommand.self, SignOutCommand.self,
            ImportCommand.self, ExportCommand.self, KeyCommand.self, LockCommand.self, UnlockCommand.self,
            PublishCommand.self, SocketsCommand.self, UnpublishCommand.self, AuditCommand.self, DoctorCommand.self,
        ])

    static func main() async {
        // This process handles passphrases and exported caches. If the system refuses, the agent has reported that.
        _ = agent_forbid_inspection()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            end(error)
        }
    }

    /// Ends the process after an error of the command or the command line, or a request for help, whose text may have parts of the
    /// arguments.
    private static func end(_ error: any Error) {
        let (status, text) = (exitCode(for: error), fullMessage(for: error))
        if !text.isEmpty { (status.isSuccess ? StandardStream.output : .error).write(text + "\n") }
        exit(withError: status)
    }
}

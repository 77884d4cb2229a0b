internal import ArgumentParser
internal import CAgentSystem
internal import TokenModel

/// The command line: one file for each command.
@main
struct SSOCtl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssoctl",
        abstract: "See who is signed in, sign in and out, and get tokens, through sso-agent.",
        discussion: """
            Every command prints for people by default and one JSON document with --json; progress and prompts go to \
            standard error. Exit status: 0 done, 1 failed, 2 interaction required, 3 no such account, 4 the agent \
            cannot be reached, 64 usage.

            Environment: SSO_AGENT_SOCK names the agent's socket, BROWSER the browser for sign-in.
            """,
        version: ProductVersion.text,
        subcommands: [
            Status.self, Accounts.self, SignIn.self, Token.self, SignOut.self, Import.self, Export.self, Key.self,
            Unlock.self, Doctor.self,
        ])

    static func main() async {
        // It holds passphrases and whole caches. Where the system refuses, the agent has said so already.
        _ = agent_forbid_inspection()
        await main(nil)
    }
}

internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Signs an account out of one app, or out of all.
struct SignOutCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "Remove an app's tokens for an account; with --wipe, those of all apps.")

    @OptionGroup var account: AccountOptions

    @Option(name: .customLong("client-id"), help: "The application (client) ID.")
    var clientID: String

    @Option(help: "The sharing group.")
    var group = SharingGroup.standard.name

    @Flag(help: "Remove every app's tokens for the account, and the account itself.")
    var wipe = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var removed: Bool
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        guard let clientID = ClientID(clientID), let group = SharingGroup(group) else {
            throw TokenError(.invalidDeveloperParameter, "--client-id and --group must not be blank")
        }
        try await account.requireKnown(agent, in: group)
        let reply = try await agent.removeAccount(
            RemoveAccount(
                clientID: clientID, sharingGroup: group, account: account.reference, extent: wipe ? .account : .app))
        return Printout(removed: reply.removed)
    }

    func describe(_ done: Printout) -> String? {
        done.removed ? "Signed out." : "Was signed out already."
    }
}

internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Who is signed in.
struct Accounts: Command {
    static let configuration = CommandConfiguration(abstract: "List the accounts.")

    @Option(name: .customLong("client-id"), help: "Only the accounts that this app can get tokens for.")
    var clientID: String?

    @Option(help: "The sharing group.")
    var group = SharingGroup.standard.name

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var accounts: [AccountJSON]
    }

    func validate() throws {
        guard SharingGroup(group) != nil else { throw ValidationError("--group must not be blank.") }
        if let clientID, ClientID(clientID) == nil { throw ValidationError("--client-id must not be blank.") }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let request = ListAccounts(
            clientID: clientID.flatMap(ClientID.init), sharingGroup: SharingGroup(group) ?? .standard)
        return Printout(accounts: try await agent.listAccounts(request).map(AccountJSON.init))
    }

    func describe(_ list: Printout) -> String? {
        guard !list.accounts.isEmpty else { return "No accounts. Sign in with: ssoctl sign-in" }
        return list.accounts.map(\.line).joined(separator: "\n")
    }
}

internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Lists the accounts.
struct AccountsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the accounts.")

    @Option(name: .customLong("client-id"), help: "Only the accounts for which this app can get tokens.")
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

/// An account as JSON, and as a line of text.
struct AccountJSON: Encodable {
    struct Profile: Encodable {
        var tenantId: String
        var identifier: String?
        var username: String?
        var environment: String
        var isHomeTenant: Bool
    }

    var identifier: String?
    var username: String?
    var environment: String
    var tenantProfiles: [Profile]
    var source: String

    init(_ account: Account) {
        identifier = account.homeAccountID?.text
        username = account.username
        environment = account.environment
        source = account.source == .adal ? "adal" : "msal"
        tenantProfiles = account.tenantProfiles.map {
            Profile(
                tenantId: $0.realm, identifier: $0.localAccountID, username: $0.username, environment: $0.environment,
                isHomeTenant: $0.isHome)
        }
    }

    /// `alice@contoso.com (identifier)`.
    var line: String { "\(username ?? "(no name)") (\(identifier ?? "identifier not yet known"))" }
}

internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Lists the accounts.
struct AccountsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the accounts.",
        discussion: """
            The account with “*” is the default one (ssoctl use ACCOUNT). “valid until” is the end of the token that is valid \
            longest; an account that is signed in gets new ones.

            Examples:
              ssoctl accounts
              ssoctl accounts --app graph          those that are signed in to an app
              ssoctl accounts --verbose            with every token
            """,
        aliases: ["list", "whoami"])

    @OptionGroup(title: "App") var app: AppFilterOptions

    @Flag(name: .shortAndLong, help: "Also list the tokens of each account, without their secrets.")
    var verbose = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var accounts: [AccountJSON]
        /// The tokens; nil unless they were asked for.
        var credentials: [CredentialJSON]?
        /// Of each account, for the table; nil if there are too many to look at.
        fileprivate var tokens: AccountTokens?
        /// The position of the default account; nil if it is none of them.
        fileprivate var defaultIndex: Int?
        fileprivate var appNames: [ClientID: String] = [:]
        /// What to say of an empty list.
        fileprivate var emptyText: String

        private enum CodingKeys: CodingKey { case accounts, credentials }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let filter = try AppFilter(app) { command(app: $0) }
        let accounts = try await agent.listAccounts(
            ListAccounts(clientID: filter.clientID, sharingGroup: filter.sharingGroup))
        var printout = Printout(accounts: accounts.map(AccountJSON.init), emptyText: emptyText(filter))
        if verbose || (!output.json && accounts.count <= Self.examinedAccounts) {
            printout.tokens = try await AccountTokens.read(agent, filter.sharingGroup, isRequired: verbose)
        }
        if verbose { printout.credentials = printout.tokens?.credentials(of: accounts).map(CredentialJSON.init) }
        // The beginning of several names marks none of them.
        if let meant = filter.defaultAccount?.matches(in: accounts), meant.count == 1 {
            printout.defaultIndex = accounts.firstIndex(of: meant[0])
        }
        printout.appNames = filter.appNames
        return printout
    }

    private func emptyText(_ filter: AppFilter) -> String {
        let command = filter.signIn(filter.clientID).text
        guard let appText = filter.appText else { return "No accounts. Sign in with: \(command)" }
        return "No accounts are signed in to \(appText). Sign in with: \(command)"
    }

    /// The same command for an app with another name.
    private func command(app name: String) -> CommandLineWords {
        CommandLineWords("ssoctl", "accounts") + app.words(name: name)
            + (verbose ? ["--verbose"] : [])
    }

    func style(_ list: Printout) -> StyledText? {
        guard !list.accounts.isEmpty else { return StyledText(list.emptyText) }
        let (now, clouds) = (Terminal.now, CloudDirectory())
        let rows = list.accounts.enumerated().map { index, account in
            [index == list.defaultIndex ? "*" : "", account.username ?? "(no name)", account.tenant(clouds)]
                + (list.tokens.map { $0.summary(of: account, list.appNames, now: now) } ?? [])
                + [account.identifier ?? "not yet known"]
        }
        let tokens = list.tokens == nil ? [] : ["APPS", "STATE", "VALID UNTIL"]
        var text = Table.text(["", "NAME", "TENANT"] + tokens + ["IDENTIFIER"], rows)
        if let credentials = list.credentials, !credentials.isEmpty {
            text +=
                "\n\n"
                + Table.text(
                    ["ACCOUNT", "TOKEN", "APP", "AUTHORITY", "SCOPES", "VALID UNTIL"],
                    credentials.map { $0.row(list.appNames, now: now) })
        }
        return text
    }

    /// More accounts are listed without their tokens, which would take longer than the list.
    private static let examinedAccounts = 200
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

    /// The home tenant; in Microsoft's public cloud without its host.
    func tenant(_ clouds: CloudDirectory) -> String {
        let home = tenantProfiles.first { $0.isHomeTenant } ?? tenantProfiles.first
        let realm = home?.tenantId ?? ""
        let isPublic = clouds.cloud(of: environment).preferredNetwork == Authority.common.environment
        return isPublic ? realm : "\(realm) at \(environment)"
    }
}

internal import AgentClient
internal import AgentConfiguration
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

    @Option(name: .customLong("app"), help: "Only the accounts that are signed in to this app of the configuration.")
    var app: String?

    @Option(name: .customLong("client-id"), help: "The same, by the application (client) ID.")
    var clientID: String?

    @Option(help: "The sharing group.")
    var group: String?

    @Flag(name: .shortAndLong, help: "Also list the tokens of each account, without their secrets.")
    var verbose = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var accounts: [AccountJSON]
        /// The tokens; nil unless they were asked for.
        var credentials: [CredentialJSON]?
        /// Of each account, for the table; nil if there are too many to look at.
        fileprivate var tokens: AccountTokens?
        fileprivate var defaultAccount: AccountName?
        fileprivate var appNames: [ClientID: String] = [:]

        private enum CodingKeys: CodingKey { case accounts, credentials }
    }

    func validate() throws {
        guard group.map({ SharingGroup($0) != nil }) ?? true else {
            throw ValidationError("--group must not be blank.")
        }
        if let clientID, ClientID(clientID) == nil { throw ValidationError("--client-id must not be blank.") }
        guard app == nil || clientID == nil else { throw ValidationError("Name one app: --app or --client-id.") }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        // A list of everything needs no configuration: one that cannot be read is reported by other commands.
        let settings = app == nil ? try? Settings.read() : try Settings.read()
        let named = try app.map { name throws(CommandFailure) in try settings?.app(named: name) } ?? nil
        let request = ListAccounts(
            clientID: named?.clientID ?? clientID.flatMap(ClientID.init),
            sharingGroup: group.flatMap(SharingGroup.init) ?? named?.sharingGroup ?? .standard)
        let accounts = try await agent.listAccounts(request)
        var printout = Printout(accounts: accounts.map(AccountJSON.init))
        if verbose || (!output.json && accounts.count <= Self.examinedAccounts) {
            printout.tokens = try await AccountTokens.read(agent, request.sharingGroup, isRequired: verbose)
        }
        if verbose { printout.credentials = printout.tokens?.credentials(of: accounts).map(CredentialJSON.init) }
        printout.defaultAccount = settings?.defaultAccount.map { AccountName($0) }
        printout.appNames = settings?.appNames ?? [:]
        return printout
    }

    func describe(_ list: Printout) -> String? { nil }

    func style(_ list: Printout) -> StyledText? {
        guard !list.accounts.isEmpty else {
            let whose = app.map { " are signed in to “\($0)”" } ?? clientID.map { " are signed in to \($0)" } ?? ""
            return "No accounts\(whose). Sign in with: ssoctl sign-in"
        }
        let now = Terminal.now
        // The beginning of several names marks none of them.
        let marked = list.accounts.indices.filter { list.defaultAccount?.means(list.accounts[$0]) == true }
        let rows = list.accounts.enumerated().map { index, account in
            [marked == [index] ? "*" : "", account.username ?? "(no name)", account.tenant]
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

extension AccountName {
    /// Whether the account has this identifier, or this name or one that begins so.
    fileprivate func means(_ account: AccountJSON) -> Bool {
        account.identifier == text.lowercased()
            || account.username?.lowercased().hasPrefix(text.lowercased()) == true
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

    /// The home tenant; in Microsoft's public cloud without its host.
    var tenant: String {
        let home = tenantProfiles.first { $0.isHomeTenant } ?? tenantProfiles.first
        let realm = home?.tenantId ?? ""
        let isPublic = CloudDirectory().cloud(of: environment).preferredNetwork == Authority.common.environment
        return isPublic ? realm : "\(realm) at \(environment)"
    }
}

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

    /// The argument of other commands for the app, which leads to the option of this command.
    @Argument(help: .hidden)
    var word: String?

    @Flag(name: .shortAndLong, help: "Also list the tokens of each account, without their secrets.")
    var verbose = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var accounts: [AccountJSON]
        /// The tokens; nil unless they were asked for.
        var credentials: [CredentialJSON]?
        /// The position of the default account; nil if it is none of them.
        fileprivate var defaultIndex: Int?
        fileprivate var appNames: [ClientID: String] = [:]
        /// What to say of an empty list.
        fileprivate var emptyText: String

        private enum CodingKeys: CodingKey { case accounts, credentials }
    }

    func validate() throws { try app.refuse(word, of: "accounts") }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let filter = try AppFilter(app) { command(app: $0) }
        let accounts = try await accounts(filter, agent)
        var printout = Printout(accounts: accounts.map { AccountJSON($0) }, emptyText: emptyText(filter))
        if accounts.isEmpty, let status = try? await agent.status() {
            // A published socket serves no sign-in, and has none of the store's files.
            let place = status.isOfPublishedSocket ? " where the agent runs" : ""
            printout.emptyText = emptyText(filter, place: place)
            // Accounts that the user expects may be in a store that could not be opened.
            if let problem = status.storeProblem {
                printout.emptyText +=
                    "\n" + ["The store: \(problem)", "More about it\(place): ssoctl doctor"].joinedLines
            }
        }
        if verbose || accounts.count <= Self.examinedAccounts,
            let tokens = try await AccountTokens.read(agent, filter.sharingGroup, isRequired: verbose)
        {
            let now = Terminal.now
            // Several providers may have an account with the same identifier.
            let listed = Dictionary(grouping: printout.accounts.filter { $0.identifier != nil }, by: \.identifier)
            for (index, account) in printout.accounts.enumerated() {
                let namesakes = listed[account.identifier] ?? []
                printout.accounts[index].add(tokens.summary(of: account, among: namesakes, filter.appNames, now: now))
            }
            if verbose { printout.credentials = tokens.credentials(of: accounts).map(CredentialJSON.init) }
        }
        // A prefix of several names marks none of them.
        if let meant = filter.defaultAccount?.matches(in: accounts), meant.count == 1 {
            printout.defaultIndex = accounts.firstIndex(of: meant[0])
        }
        printout.appNames = filter.appNames
        return printout
    }

    /// - Throws: the refusal of a list of all apps, as in a sandbox, with the command for an app whose accounts are listed.
    private func accounts(_ filter: AppFilter, _ agent: AgentClient) async throws -> [Account] {
        let request = ListAccounts(clientID: filter.clientID, sharingGroup: filter.sharingGroup)
        do throws(TokenError) { return try await agent.listAccounts(request) } catch {
            guard error.code == .requestDenied, request.clientID == nil else { throw error }
            let finder = AccountFinder(agent: agent, sharingGroup: filter.sharingGroup)
            let app = await finder.listableApp(among: filter.appNames)
            throw CommandFailure(error, nextCommand: app.map { command(app: $0).text })
        }
    }

    /// - Parameter place: where the command has to be run, after a blank; empty for here.
    private func emptyText(_ filter: AppFilter, place: String = "") -> String {
        let command = filter.signIn(filter.clientID).text
        if filter.appText == nil, filter.isWithoutApps { return "No accounts. Set up an app first, with: ssoctl init" }
        guard let appText = filter.appText else { return "No accounts. Sign in with: \(command)" }
        return "No accounts are signed in to \(appText). Sign in\(place) with: \(command)"
    }

    /// This command for an app with another name.
    private func command(app name: String) -> CommandLineWords {
        CommandLineWords("ssoctl", "accounts") + app.words(name: name)
            + (verbose ? ["--verbose"] : [])
    }

    func style(_ list: Printout) -> StyledText? {
        guard !list.accounts.isEmpty else { return StyledText(list.emptyText) }
        let (now, clouds) = (Terminal.now, CloudDirectory())
        let rows = list.accounts.enumerated().map { index, account in
            [index == list.defaultIndex ? "*" : "", account.username ?? "(no name)", account.tenant(clouds)]
                + account.tokenCells(now: now) + [account.identifier ?? "not yet known"]
        }
        // The tokens are listed for every account or for none.
        let tokens = list.accounts[0].state == nil ? [] : ["APPS", "STATE", "VALID UNTIL"]
        var text = Table.fitted(
            ["", "NAME", "TENANT"] + tokens + ["IDENTIFIER"], rows,
            leavingOut: verbose ? [] : ["IDENTIFIER", "TENANT", "VALID UNTIL", "APPS"],
            elsewhere: "--verbose and --json show all.")
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
struct AccountJSON: JSONObject {
    struct Profile: JSONObject {
        var environment: String
        var identifier: String?
        var isHomeTenant: Bool
        var tenantId: String
        var username: String?

        func write(to output: inout JSONOutput) {
            output.member("environment", environment)
            output.member("identifier", identifier)
            output.member("isHomeTenant", isHomeTenant)
            output.member("tenantId", tenantId)
            output.member("username", username)
        }
    }

    /// The apps that have tokens of the account; nil in a result without the tokens, as are `state` and `validUntil`.
    private(set) var apps: [String]?
    var environment: String
    var identifier: String?
    var source: String
    private(set) var state: AccountTokens.Summary.State?
    /// The account in each tenant; nil in the result of a token request, which does not have them.
    var tenantProfiles: [Profile]?
    var username: String?
    /// The end of the token that is valid longest, in seconds since 1970; nil also if none is valid.
    private(set) var validUntil: Int64?

    /// - Parameter hasProfiles: whether the account is of a list, which has its tenants.
    init(_ account: Account, hasProfiles: Bool = true) {
        identifier = account.homeAccountID?.text
        username = account.username
        environment = account.environment
        source = account.source == .adal ? "adal" : "msal"
        guard hasProfiles else { return }
        tenantProfiles = account.tenantProfiles.map {
            Profile(
                environment: $0.environment, identifier: $0.localAccountID, isHomeTenant: $0.isHome, tenantId: $0.realm,
                username: $0.username)
        }
    }

    func write(to output: inout JSONOutput) {
        output.member("apps", apps)
        output.member("environment", environment)
        output.member("identifier", identifier)
        output.member("source", source)
        output.member("state", state?.rawValue)
        output.member("tenantProfiles", tenantProfiles)
        output.member("username", username)
        output.member("validUntil", validUntil)
    }

    /// Whether the account has a profile at an authority.
    func isOf(_ authority: Authority) -> Bool {
        tenantProfiles?.contains {
            $0.environment == authority.environment && $0.tenantId == authority.realm.lowercased()
        } ?? false
    }

    mutating func add(_ summary: AccountTokens.Summary) {
        (apps, state, validUntil) = (summary.apps, summary.state, summary.validUntil)
    }

    /// The cells of a table about the account's tokens; none if they are not known.
    func tokenCells(now: Int64) -> [String] {
        guard let apps, let state else { return [] }
        return [apps.joined(separator: ", "), state.text, validUntil.map { Phrases.moment($0, now: now) } ?? "-"]
    }

    /// `alice@contoso.com (identifier)`.
    var line: String { ["\(username ?? "(no name)") (\(identifier ?? "identifier not yet known"))"].joinedLines }

    /// The home tenant; in Microsoft's public cloud without its host.
    func tenant(_ clouds: CloudDirectory) -> String {
        let home = tenantProfiles?.first { $0.isHomeTenant } ?? tenantProfiles?.first
        let realm = home?.tenantId ?? ""
        let isPublic = clouds.cloud(of: environment).preferredNetwork == Authority.common.environment
        return isPublic ? realm : "\(realm) at \(environment)"
    }
}

/// The names of an account as JSON, where a command prints no more of it. What is not known is absent.
struct AccountNamesJSON: JSONObject {
    var environment: String?
    var identifier: String?
    var username: String?

    init(_ account: Account) {
        (environment, identifier, username) = (account.environment, account.homeAccountID?.text, account.username)
    }

    /// Returns nil for an empty reference.
    init?(_ account: AccountReference) {
        guard !account.isEmpty else { return nil }
        (identifier, username) = (account.homeAccountID?.text, account.username)
    }

    func write(to output: inout JSONOutput) {
        output.member("environment", environment)
        output.member("identifier", identifier)
        output.member("username", username)
    }

    /// The username, or the identifier of an account without one.
    var text: String { username ?? identifier ?? "" }
}

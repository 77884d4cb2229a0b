internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Signs an account out of all apps, or of one.
struct SignOutCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "Sign an account out: of every app here, or with --app of one.",
        discussion: """
            Without an app, removes every app's tokens for the account, and the account itself. With --app or --client-id, removes \
            those of that app, and with --wipe those of all apps.

            Examples:
              ssoctl sign-out alice                everywhere on this machine
              ssoctl sign-out alice --app graph    one app
              ssoctl sign-out alice --browser      and end the session of the browser
            """,
        aliases: ["logout"])

    @Argument(
        help: ArgumentHelp("Its name, the beginning of its name, or its identifier.", valueName: "account"),
        completion: Candidates.account)
    var name: String?

    @OptionGroup(title: "Account") var account: AccountOptions

    @OptionGroup(title: "App") var app: AppFilterOptions

    @Flag(help: "Remove every app's tokens for the account, and the account itself, also if an app is named.")
    var wipe = false

    @Flag(name: .customLong("browser"), help: "Also open the provider's page that ends the session of the browser.")
    var endsBrowserSession = false

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { endsBrowserSession }

    struct Printout: Encodable {
        var removed: Bool
        /// The account; with --username, only the name, if accounts of several providers have it.
        var account: AccountNamesJSON
        /// The apps whose tokens were removed; nil if this process may not list them.
        var apps: [String]?
        var refreshTokens: Int?
        var accessTokens: Int?
    }

    func validate() throws {
        guard name == nil || account.values.name == nil else {
            throw ValidationError("Name the account once: ACCOUNT, --account or --username.")
        }
        guard name != nil || account.values.name != nil else {
            throw ValidationError("Name the account, such as: ssoctl sign-out alice. “ssoctl accounts” lists them.")
        }
        guard name.map({ $0.trimmedNonEmpty != nil }) ?? true else {
            throw ValidationError("The account's name must not be blank.")
        }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let filter = try AppFilter(app) { words(name ?? account.values.name?.text ?? "", app: $0) }
        let wanted = account.values.name ?? AccountName(name ?? "")
        let finder = AccountFinder(agent: agent, sharingGroup: filter.sharingGroup)
        let (found, others): (Account, [Account])
        do {
            (found, others) = try await self.accounts(wanted, finder, signedInTo: wipe ? nil : filter.clientID)
        } catch let error as TokenError {
            throw await error.orAtPublishedSocket(agent)
        }
        let tokens = try await AccountTokens.read(agent, filter.sharingGroup, isRequired: false)
        let isWhole = filter.clientID == nil || wipe
        let affected = tokens?.credentials(of: [found] + others)
            .filter { isWhole || $0.clientID == filter.clientID }
        let apps = affected?.filter { !$0.namesNoApp }.map(\.clientID)
        // The agent remembers of one app that the account has signed out.
        let remembered = filter.clientID ?? apps?.first ?? .commandLine
        let reply = try await agent.removeAccount(
            RemoveAccount(
                clientID: remembered, sharingGroup: filter.sharingGroup,
                account: others.isEmpty ? found.reference : wanted.reference, extent: isWhole ? .account : .app,
                environment: account.values.name == nil ? found.environment : nil,
                wantsSignOutPages: endsBrowserSession))
        if endsBrowserSession { openSignOutPages(reply.signOutPages, of: [found] + others) }
        var printout = Printout(removed: reply.removed, account: AccountNamesJSON(found))
        if !others.isEmpty { (printout.account.environment, printout.account.identifier) = (nil, nil) }
        if let affected, let apps {
            printout.apps = Set(apps.map { filter.appNames[$0] ?? $0.text }).sorted()
            printout.refreshTokens = affected.count { $0.kind == .refreshToken }
            printout.accessTokens = affected.count { $0.kind == .accessToken }
        }
        return printout
    }

    /// The account with a name. With --username, accounts of several providers that have exactly this name are all meant.
    ///
    /// - Parameter clientID: the app that the account is signed out of; nil for every app. Of several accounts with the name, such as those
    ///   of providers that number their users, the one that is signed in to the app is meant; likewise of a work account without an
    ///   identifier and a personal one.
    private func accounts(
        _ name: AccountName, _ finder: AccountFinder, signedInTo clientID: ClientID?
    ) async throws -> (Account, others: [Account]) {
        let found = try await finder.accounts(name, of: nil)
        if found.count == 1, found[0].homeAccountID == nil, let clientID, let username = found[0].username {
            // A personal account has the name too, and may be the one that is signed in to the app.
            let own = try await finder.accounts(AccountName(username, isIdentifier: false), of: clientID)
            if own.count == 1 { return (own[0], []) }
        }
        if found.count > 1 {
            if account.username != nil {
                let areExact = found.allSatisfy { $0.username?.lowercased() == name.text.lowercased() }
                if areExact { return (found[0], Array(found.dropFirst())) }
            } else if let clientID {
                let own = try await finder.accounts(name, of: clientID)
                if own.count == 1, name.isExact(own[0]) { return (own[0], []) }
            }
            if let failure = indistinguishable(found, name) { throw failure }
        }
        // Nothing is removed by a guess: the user replaces the placeholder.
        let only = try await finder.account(
            name, among: found, { words($0) }, placeholder: "ACCOUNT", otherwise: finder.list)
        return (only, [])
    }

    /// The failure for accounts of several providers with the same identifier and username, which no name tells apart; nil for others.
    ///
    /// - Parameter found: the accounts, at least two.
    private func indistinguishable(_ found: [Account], _ name: AccountName) -> CommandFailure? {
        guard let first = found.first,
            found.allSatisfy({
                $0.homeAccountID == first.homeAccountID && $0.username?.lowercased() == first.username?.lowercased()
            })
        else { return nil }
        // Two providers may have one host.
        let providers = found.map { account in
            let home = account.tenantProfiles.first { $0.isHome } ?? account.tenantProfiles.first
            return account.environment + (home.map { "/\($0.realm)" } ?? "")
        }.joined(separator: ", ")
        let all = first.username.map { CommandLineWords.option("--username", $0) }
        let remedy = all.map { "; \(CommandLineWords($0).text) signs all of them out" } ?? ""
        let isOfApp = app.name != nil || app.clientID != nil
        let next =
            isOfApp
            ? all.map { CommandLineWords(["ssoctl", "sign-out"] + $0) + app.words() + flags }
            : words(first.homeAccountID?.text ?? name.text, app: "NAME")
        return .ambiguous(
            "“\(name.text)” is an account of several providers (\(providers)); name an app that is signed in to one only\(remedy)",
            [], nextCommand: next?.text)
    }

    /// The words of the sign-out command for an account.
    private func words(_ account: String, app name: String? = nil) -> CommandLineWords {
        .command("sign-out", account, app.words(name: name) + flags)
    }

    private var flags: [String] {
        [("--wipe", wipe), ("--browser", endsBrowserSession)].filter(\.1).map(\.0)
    }

    func describe(_ done: Printout) -> String? { [sentence(done)].joinedLines }

    private func sentence(_ done: Printout) -> String {
        let account = done.account.text
        if let app = app.name.map({ "“\($0)”" }) ?? app.clientID?.text, !wipe, done.apps?.isEmpty == true {
            return "\(account) has no tokens of the app \(app): there was nothing to sign out of."
        }
        guard done.removed else { return "\(account) was signed out already." }
        guard let apps = done.apps, let refresh = done.refreshTokens, let access = done.accessTokens, !apps.isEmpty
        else {
            return "Signed out \(account)."
        }
        let tokens = [(refresh, "refresh token"), (access, "access token")].filter { $0.0 > 0 }
            .map { Phrases.count($0.0, $0.1) }.joined(separator: " and ")
        return "Signed out \(account) of \(apps.joined(separator: ", ")): removed \(tokens)."
    }

    /// Opens the pages, which the user may have to do: the accounts are signed out in any case.
    ///
    /// - Parameters:
    ///   - named: the pages of the agent's reply.
    ///   - accounts: the accounts, each of another provider.
    private func openSignOutPages(_ named: [String], of accounts: [Account]) {
        // An agent names eight at most. One of another user could name anything.
        let pages = named.prefix(8).filter(Browser.isWebPage)
        for page in pages {
            Terminal.writeError("To end the session of the browser, open: " + .link(page) + "\n")
            do throws(TokenError) {
                try Browser(commands: SignInPresenter().browserCommands).open(page) { reason in
                    Terminal.printError("ssoctl: \(reason)")
                }
            } catch {
                Terminal.printError(error.problem.printed(by: "ssoctl"))
            }
        }
        let hosts = Set(accounts.map(\.environment)).sorted()
        guard pages.count < hosts.count else { return }
        let known = pages.isEmpty ? "no page is known" : "not every page is known"
        Terminal.printError(
            [
                "ssoctl: \(known) that ends the session of the browser at \(hosts.joined(separator: " and ")); the provider names none, "
                    + "or has not answered in time"
            ].joinedLines)
    }
}

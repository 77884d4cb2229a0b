internal import AgentClient
internal import AgentConfiguration
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Guides through the first set-up: an app, a sign-in, a token. It does nothing that the other commands cannot do.
struct InitCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Set up an app, sign in and get a first token, step by step.",
        discussion: """
            Asks questions on the terminal. The other commands of the examples do the same without questions.

            Examples:
              ssoctl init
              ssoctl app add graph --client-id CLIENT-ID --scope User.Read --default
              ssoctl sign-in
              ssoctl token
            """)

    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    struct Printout: Encodable {
        var app: AppPrintout
        var account: AccountJSON
        var expiresOn: Int64
        /// The command line that prints the same token.
        fileprivate var command: String

        private enum CodingKeys: CodingKey { case app, account, expiresOn }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        guard Terminal.isInteractive else {
            throw CommandFailure.usage(
                "“ssoctl init” asks questions on a terminal, and there is none",
                nextCommand: "ssoctl app add graph --client-id CLIENT-ID --scope User.Read --default")
        }
        try makeNamedFile()
        _ = try await agent.status()
        let settings = try Settings.read(mayCreate: true)
        let name = try addApp(settings)
        let (target, account) = try await signIn(agent, name)
        say(.bold("\n3. A token"))
        let token = try await SilentToken(
            agent: agent, target: target, name: AccountName(account.reference),
            isNamed: true, freshness: Freshness()
        ).acquire()
        let changed = try Settings.read()
        let app = try changed.app(named: name) { CommandLineWords("ssoctl", "app", "show", $0) }
        return Printout(
            app: AppPrintout(app, defaultName: changed.defaultAppName),
            account: AccountJSON(token.account, hasProfiles: false), expiresOn: token.expiresOn,
            command: await tokenCommand(agent, app, token.account, changed))
    }

    /// The command line of a token, with the app and the account if another one would be meant without their names.
    private func tokenCommand(
        _ agent: AgentClient, _ app: ConfiguredApp, _ account: Account, _ settings: Settings
    ) async -> String {
        var words = CommandLineWords("ssoctl", "token")
        if settings.defaultAppName != app.name { words = words + [app.name] }
        let meant = try? await AccountFinder(agent: agent, sharingGroup: app.sharingGroup)
            .accounts(settings.defaultAccount, of: app.clientID)
        if meant?.map(\.homeAccountID) != [account.homeAccountID] {
            let name = account.loginHint ?? account.homeAccountID?.text ?? "NAME"
            words = words + CommandLineWords.option("--account", name)
        }
        return words.text
    }

    func style(_ done: Printout) -> StyledText? {
        let name = done.account.username.map { UntrustedText.clean($0) }
        let end = Phrases.moment(done.expiresOn, now: Terminal.now)
        let start = "There is a token for \(name ?? "you"), valid until \(end). "
        return StyledText(start + "Programs and scripts get it, and later ones, with:\n\n")
            + StyledText("  \(done.command)\n").fixed
            + StyledText(
                "\nAlso: ssoctl accounts, ssoctl app list, ssoctl sign-out \((name ?? "NAME").shellWord), ssoctl --help"
            )
    }

    /// Makes an empty configuration file if `$SSO_AGENT_CONFIG` names one that does not exist, without which the agent does not start.
    private func makeNamedFile() throws {
        let files = ConfigurationFiles.current
        guard files.isUserFileRequired, FileStatus(files.user) == nil else { return }
        try ConfigurationEditor.change(files.user) { _ in }
    }

    private func addApp(_ settings: Settings) throws -> String {
        say(.bold("1. The app"))
        say(
            """
            Microsoft Entra ID issues tokens to registered apps, each with a client ID. If you have none, register one: in \
            https://entra.microsoft.com, App registrations, New registration: any name; under “Redirect URI” choose the \
            platform “Public client/native (mobile & desktop)” and enter http://localhost. The page “Overview” then shows the \
            application (client) ID. Without a display, you sign in with a code on another device, for which “Allow public client \
            flows” on the page “Authentication” has to be “Yes”.

            """)
        var (clientID, place) = (try askClientID(), try askPlace())
        while let defect = clientID.defect(at: place.authority) {
            say(
                StyledText(
                    "\(defect). For a provider that is not Microsoft's, give the URL of its authority for the tenant."))
            (clientID, place) = (try askClientID(), try askPlace())
        }
        let isOpenID = place.authority.kind == .openID
        let scopes = try ask("Permissions, with blanks between them", standard: isOpenID ? "openid" : "User.Read") {
            text in
            let resources = ScopeList.resources(ScopeList.split([text]))
            guard resources.count > 1 else { return nil }
            return "A token is for one resource, and these are for \(resources.joined(separator: " and "))."
        }
        let isFirst = settings.configuration.apps.isEmpty
        let name = try ask("A name for the app", standard: isFirst && !isOpenID ? "graph" : nil) { text in
            if !ConfiguredApp.isName(text) { return "Use letters, digits, “_”, “-” and “.”." }
            return settings.configuration.app(named: text) == nil ? nil : "There is an app with this name."
        }
        var app = ConfigurationEditor.App(name: name, clientID: clientID.text)
        if place.isURL { (app.authority, app.kind) = (place.text, place.kind) } else { app.tenant = place.text }
        app.scopes = ScopeList.split([scopes])
        try ConfigurationEditor.change(ConfigurationFiles.current.user) { (editor) throws(TokenError) in
            try editor.setApp(app)
            try editor.setDefaultApp(name)
        }
        say("Wrote \(ConfigurationFiles.current.user). “\(name)” is the default app.")
        return name
    }

    private func askClientID() throws(CommandFailure) -> ClientID {
        while true {
            if let clientID = ClientID(try ask("Client ID") { _ in nil }) { return clientID }
        }
    }

    /// Where an app is registered.
    private struct Place {
        /// A tenant of the public cloud, or the URL of an authority.
        let text: String
        /// The kind of the authority; nil at Microsoft's hosts, which determine it.
        let kind: AuthorityKindName?
        let authority: Authority

        var isURL: Bool { Self.isURL(text) }

        static func isURL(_ text: String) -> Bool { text.contains("://") }
    }

    private func askPlace() throws(CommandFailure) -> Place {
        while true {
            let text = try ask("Tenant (a domain, an ID, or the URL of an authority)", standard: "organizations") {
                text in
                Place.isURL(text) || TenantName(text) != nil
                    ? nil
                    : "This is neither a tenant, such as contoso.com, nor a URL, which begins with https:// (on this machine also "
                        + "http://)."
            }
            guard Place.isURL(text) else {
                return Place(text: text, kind: nil, authority: Authority(cloud: .public, tenant: TenantName(text)))
            }
            let kind = try askKind(ofProviderAt: text)
            do throws(TokenError) {
                return Place(text: text, kind: kind, authority: try Authority(text, kind: kind?.kind))
            } catch {
                say(StyledText("The \(error.message)."))
            }
        }
    }

    /// Asks for the kind of a provider that is not at one of Microsoft's hosts; nil for another one, and for what is no URL.
    private func askKind(ofProviderAt url: String) throws(CommandFailure) -> AuthorityKindName? {
        guard let parts = try? URLParts(url), !CloudDirectory.isMicrosofts(parts.environment) else { return nil }
        // What the URL does not tell would be Entra, which is at other hosts for tests only.
        let told = (try? Authority(url))?.kind ?? .entra
        let standard = AuthorityKindName.allCases.first { $0.kind == told && (told != .entra || parts.isLoopback) }
        let names = AuthorityKindName.allCases.map(\.rawValue).joined(separator: ", ")
        let name = try ask("Kind of this provider (\(names))", standard: (standard ?? .openid).rawValue) { text in
            AuthorityKindName(rawValue: text) == nil
                ? "The kinds are \(names); openid is any OpenID Connect provider." : nil
        }
        return AuthorityKindName(rawValue: name)
    }

    private func signIn(_ agent: AgentClient, _ name: String) async throws -> (Target, Account) {
        say(.bold("\n2. The sign-in"))
        // With the command, since a shell's candidates for its options are asked for asynchronously.
        guard let command = try await SignInCommand.asyncParseAsRoot([name]) as? SignInCommand else {
            throw CommandFailure(
                TokenError(.internalError, "the sign-in cannot be begun"), nextCommand: "ssoctl sign-in")
        }
        let target = try Target(command.target.values, for: "sign-in")
        let request = BeginInteractive(parameters: target.parameters(at: target.authority ?? .common))
        let dialog = SignInDialog(agent: agent, request: request, method: .automatic, appText: target.appText)
        do {
            let result = try await Interruption.cancelling { try await dialog.run() }
            say(.green("Signed in") + StyledText(" as \(result.account.username ?? "you")."))
            return (target, result.account)
        } catch {
            var failure = CommandFailure(caught: error).advised(for: target, command.manner).withRemedy
            // A refusal of the identity provider has the command that helps, if there is one.
            if failure.error.details.oauthError == nil { failure.nextCommand = failure.nextCommand ?? "ssoctl sign-in" }
            throw failure
        }
    }

    private func say(_ text: StyledText) { Terminal.writeError(text + "\n") }

    /// Asks until the answer has no defect.
    ///
    /// - Parameters:
    ///   - standard: the answer if the line is empty.
    ///   - defect: what is wrong with an answer; nil if nothing is.
    private func ask(
        _ question: String, standard: String? = nil, defect: (String) -> String?
    ) throws(CommandFailure) -> String {
        while true {
            Terminal.writeError(StyledText("\(question)\(standard.map { " [\($0)]" } ?? ""): "))
            guard let line = readLine() else {
                // Behind the question, where the cursor is.
                say("")
                throw CommandFailure(TokenError(.userCanceled, "the set-up was cancelled"), nextCommand: "ssoctl init")
            }
            guard let answer = line.trimmedNonEmpty ?? standard else {
                say("This is needed. Ctrl-C ends the set-up.")
                continue
            }
            guard let defect = defect(answer) else { return answer }
            say(StyledText(defect))
        }
    }
}

internal import AgentClient
internal import AgentConfiguration
internal import AgentSocket
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Chooses the default app or the default account.
struct UseCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Choose the default app or the default account.",
        discussion: """
            The default is what a command uses if it names no app or no account. SSO_AGENT_APP and SSO_AGENT_ACCOUNT override it, for a \
            shell or a script.

            Examples:
              ssoctl use graph                     an app of the configuration
              ssoctl use alice@contoso.com         an account that is signed in
              ssoctl use --none                    no defaults
            """)

    @Argument(help: "An app or an account.", completion: Candidates.appOrAccount)
    var name: String?

    @Flag(name: .customLong("none"), help: "Remove the default app and the default account.")
    var removesDefaults = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var app: String?
        var account: AccountNamesJSON?
        var file: String
        /// Whether there was a default to remove; not printed as JSON.
        var hadDefaults = false
        /// Lines about defaults that the file does not decide; not printed as JSON.
        var others: [String] = []
        private enum CodingKeys: CodingKey { case app, account, file }
    }

    func validate() throws {
        guard (name == nil) == removesDefaults else {
            throw ValidationError("Name an app or an account, or give --none.")
        }
        if let name, name.trimmedNonEmpty == nil { throw ValidationError("The name is empty.") }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let path = ConfigurationFiles.current.user
        guard let name else {
            var done = Printout(file: path)
            guard FileStatus(path) != nil else {
                // Fails if the environment names the file.
                done.others = Self.remaining(try Settings.read())
                return done
            }
            try ConfigurationEditor.change(path) { (editor) throws(TokenError) in
                done.hadDefaults = try editor.removeDefaults()
            }
            // The file is changed also if another one has a mistake.
            done.others = Self.remaining(try? Settings.read())
            return done
        }
        let settings = try Settings.read()
        if settings.configuration.app(named: name) != nil {
            try ConfigurationEditor.change(path) { (editor) throws(TokenError) in try editor.setDefaultApp(name) }
            return Printout(app: name, file: path, others: Self.variable("SSO_AGENT_APP", besides: name))
        }
        let names = try await account(name, agent, settings)
        // Several accounts may have the username of the one whose identifier was given.
        let text = names.identifier?.lowercased() == name.lowercased() ? name : names.text
        try ConfigurationEditor.change(path) { (editor) throws(TokenError) in try editor.setDefaultAccount(text) }
        return Printout(account: names, file: path, others: Self.variable("SSO_AGENT_ACCOUNT", besides: text))
    }

    /// Lines about the defaults that are in effect without those of the user's file.
    private static func remaining(_ settings: Settings?) -> [String] {
        func lines(_ what: String, _ value: Configuration.Located?, _ name: String) -> [String] {
            let variable = Self.variable(name)
            guard variable.isEmpty, let value else { return variable }
            return ["\(value.place) names the default \(what) “\(value.value)”, which is in effect."]
        }
        let configuration = settings?.configuration
        return lines("app", configuration?.defaultApp, "SSO_AGENT_APP")
            + lines("account", configuration?.defaultAccount, "SSO_AGENT_ACCOUNT")
    }

    /// A line about a variable that replaces a default; none if it is not set, or names the default itself.
    private static func variable(_ name: String, besides value: String? = nil) -> [String] {
        guard let other = AgentEnvironment.value(name), other.lowercased() != value?.lowercased() else { return [] }
        return ["In this shell, \(name) names “\(other)”, which is in effect."]
    }

    private func account(_ name: String, _ agent: AgentClient, _ settings: Settings) async throws -> AccountNamesJSON {
        let meant = AccountName(name)
        do {
            let (finder, found) = try await Self.accounts(meant, agent, settings)
            return AccountNamesJSON(
                try await finder.account(meant, among: found, Self.words, otherwise: "ssoctl app list"))
        } catch var failure as CommandFailure where failure.status == .noSuchAccount {
            var message = "“\(name)” is neither an app nor an account that is signed in"
            if let app = Suggestion.nearest(to: name, among: settings.configuration.apps.map(\.name)) {
                message += "; did you mean the app “\(app)”?"
                failure.nextCommand = Self.words(app).text
            }
            failure.error = TokenError(.accountNotFound, message)
            throw failure
        } catch let error as TokenError {
            let known = await error.orAtPublishedSocket(agent)
            guard known != error else { throw error }
            // The account cannot be looked up there.
            throw CommandFailure(known, nextCommand: "export SSO_AGENT_ACCOUNT=\(name.shellWord)")
        }
    }

    /// The accounts that a name means in the first sharing group that has any: the usual one, or that of an app of the configuration. An
    /// exact name in any group comes before the beginning of one. The default account is looked for in the group of each request, by this
    /// name.
    private static func accounts(
        _ name: AccountName, _ agent: AgentClient, _ settings: Settings
    ) async throws(TokenError) -> (AccountFinder, [Account]) {
        let usual = AccountFinder(agent: agent, sharingGroup: .standard)
        let groups = Set(settings.configuration.apps.map(\.sharingGroup)).subtracting([.standard])
        let others = groups.sorted { $0.name < $1.name }.map { AccountFinder(agent: agent, sharingGroup: $0) }
        let finders = [usual] + others
        for finder in finders {
            let found = try await finder.exactAccounts(name, of: nil)
            if !found.isEmpty { return (finder, found) }
        }
        for finder in finders {
            let found = try await finder.accounts(name, of: nil)
            if !found.isEmpty { return (finder, found) }
        }
        return (usual, [])
    }

    func describe(_ done: Printout) -> String? {
        let line =
            if let app = done.app {
                "The default app is \(app)."
            } else if let account = done.account {
                "The default account is \(account.text)."
            } else if done.hadDefaults {
                "Removed the defaults from \(done.file)."
            } else {
                "There were no defaults in \(done.file)."
            }
        return ([line] + done.others).joinedLines
    }

    private static func words(_ name: String) -> CommandLineWords { .command("use", name) }
}

internal import AgentClient
internal import AgentConfiguration
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Names apps, so that their client IDs, scopes and authorities need not be typed.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Name the apps for which you get tokens: add, list, show and remove them.",
        discussion: """
            Apps are tables [apps.NAME] of the configuration: of /etc/sso-agent/config.toml, of /etc/sso-agent/conf.d/*.toml, and \
            of your own file, which these commands change. Comments and order stay as they are.

            Examples:
              ssoctl app add graph --client-id CLIENT-ID --scope User.Read
              ssoctl app add azure --client-id ID --resource https://management.azure.com
              ssoctl use graph
            """,
        subcommands: [AppAddCommand.self, AppListCommand.self, AppShowCommand.self, AppRemoveCommand.self],
        defaultSubcommand: AppListCommand.self, aliases: ["apps"])
}

/// An app of the configuration as JSON and as text.
struct AppPrintout: Encodable {
    var name: String
    var clientId: String
    var authority: String?
    var scopes: [String]
    var resource: String?
    var redirectUri: String?
    var group: String
    var file: String
    var isDefault: Bool
    /// The default app, if the command has made another app the default; nil otherwise.
    var newDefault: String?

    /// - Parameter defaultName: the name of the default app; nil if there is none.
    init(_ app: ConfiguredApp, defaultName: String?) {
        (name, clientId, authority) = (app.name, app.clientID.text, app.authority?.url)
        (scopes, resource, redirectUri) = (app.scopes, app.resource, app.redirectURI)
        (group, file) = (app.sharingGroup.name, app.file)
        isDefault = defaultName == app.name
    }

    /// What the tokens are for.
    var target: String { resource ?? scopes.joined(separator: " ") }

    var text: String {
        let lines = [
            ("client ID", clientId), ("authority", authority ?? "that of the account"),
            ("scopes", scopes.joined(separator: " ")),
            ("resource", resource ?? ""), ("redirect URI", redirectUri ?? ""),
            ("sharing group", group == SharingGroup.standard.name ? "" : group), ("file", file),
        ]
        return
            ([isDefault ? "\(name) (default)" : name]
            + lines.filter { !$0.1.isEmpty }.map { "  \($0.0): \($0.1)" }).joined(separator: "\n")
    }
}

/// Adds an app to the user's configuration.
struct AppAddCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an app to your configuration.",
        discussion: """
            The client ID is that of the app's registration (Entra: App registrations, Overview). The registration needs the \
            redirect URI http://localhost, platform “Mobile and desktop applications”.

            Examples:
              ssoctl app add graph --client-id CLIENT-ID --scope User.Read --default
              ssoctl app add mail --client-id CLIENT-ID -s Mail.Read --tenant contoso.com
            """)

    @Argument(help: "The name.")
    var name: String

    @Option(
        name: .customLong("client-id"), help: "The application (client) ID.", completion: Candidates.clientID,
        transform: ClientID.option)
    var clientID: ClientID

    @OptionGroup(title: "Identity provider") var provider: ProviderOptions

    @OptionGroup var permissions: PermissionOptions

    @Option(
        name: .customLong("redirect-uri"), help: "The app's registered redirect URI, if it is not http://localhost.")
    var redirectURI: String?

    @Option(help: "The sharing group.", completion: Candidates.group, transform: SharingGroup.option)
    var group: SharingGroup?

    @Flag(help: "Replace an app of the same name.")
    var force = false

    @Flag(name: .customLong("default"), help: "Make it the default app, as “ssoctl use” does.")
    var isDefault = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard ConfiguredApp.isName(name) else {
            throw ValidationError(
                "“\(name)” is not a name: use letters, digits, “_”, “-” and “.”, and a letter or a digit first.")
        }
        guard provider.kind == nil || provider.authority != nil else {
            throw ValidationError("--authority-kind needs --authority.")
        }
        if let redirectURI, !ConfiguredApp.isRedirectURI(redirectURI) {
            throw ValidationError("“\(redirectURI)” is not a redirect URI, such as http://localhost.")
        }
    }

    func execute(_ agent: AgentClient) async throws -> AppPrintout {
        if let defect = clientID.defect(at: try provider.values.authority(app: nil)) {
            let other = provider.authority == nil ? "; an app of another provider needs --authority" : ""
            throw CommandFailure.usage(
                defect + other, nextCommand: words(clientID: "CLIENT-ID", scopes: permissions.values.scopes).text)
        }
        try refuseSeveralResources()
        try requireNewName(try Settings.read(mayCreate: true).configuration)
        let path = ConfigurationFiles.current.user
        var app = ConfigurationEditor.App(name: name, clientID: clientID.text)
        (app.authority, app.kind, app.tenant, app.cloud) = (
            provider.authority, provider.kind, provider.tenant?.text, provider.cloud
        )
        (app.scopes, app.resource) = (permissions.values.scopes, permissions.resource)
        (app.redirectURI, app.sharingGroup) = (redirectURI, group?.name)
        var defaultApp: String?
        try ConfigurationEditor.change(path) { editor in
            // Another command may have changed it before this one has the lock.
            let configuration = try Settings.read(mayCreate: true).configuration
            try requireNewName(configuration)
            defaultApp = isDefault ? name : impliedDefault(configuration)
            try editor.setApp(app)
            if let defaultApp { try editor.setDefaultApp(defaultApp) }
        }
        let changed = try Settings.read()
        var printout = AppPrintout(
            try changed.app(named: name) { CommandLineWords("ssoctl", "app", "show", $0) },
            defaultName: changed.defaultAppName)
        if let defaultApp, defaultApp != name { printout.newDefault = defaultApp }
        return printout
    }

    /// Refuses a name that an app of the configuration has, unless its values are to be replaced.
    private func requireNewName(_ configuration: Configuration) throws(CommandFailure) {
        guard let old = configuration.app(named: name), !force else { return }
        throw CommandFailure(
            TokenError(
                .invalidDeveloperParameter, "the app “\(name)” exists in \(old.file); add --force to replace it"),
            nextCommand: "ssoctl app show \(name)")
    }

    /// The app that becomes the default although nobody has chosen one, so that commands that name no app mean the same one
    /// after this command as before it: the first app. Nil if there is a default, or there are several apps already.
    private func impliedDefault(_ configuration: Configuration) -> String? {
        guard configuration.defaultApp == nil, configuration.apps.count <= 1 else { return nil }
        return configuration.apps.first?.name ?? name
    }

    /// The words of this command with another client ID or other scopes.
    private func words(clientID: String, scopes: [String]) -> CommandLineWords {
        let values = [
            ("--resource", permissions.resource), ("--redirect-uri", redirectURI), ("--group", group?.name),
        ]
        let flags = [("--force", force), ("--default", isDefault)].filter(\.1).map(\.0)
        return CommandLineWords(["ssoctl", "app", "add", name] + CommandLineWords.option("--client-id", clientID))
            + provider.values.words + scopes.flatMap { CommandLineWords.option("--scope", $0) }
            + values.flatMap { CommandLineWords.option($0, $1) } + flags
    }

    /// A request for all scopes of such an app would always be refused.
    private func refuseSeveralResources() throws {
        let resources = ScopeList.resources(permissions.values.scopes)
        guard resources.count > 1, (try provider.values.authority(app: nil) ?? .common).kind == .entra else { return }
        throw CommandFailure.usage(
            "the scopes are for \(resources.count) resources, \(resources.joined(separator: " and ")), and a token is for one; "
                + "add an app for each, with the same client ID",
            nextCommand: words(
                clientID: clientID.text,
                scopes: permissions.values.scopes.filter { ScopeList.resources([$0]) == [resources[0]] }
            ).text)
    }

    func describe(_ app: AppPrintout) -> String? {
        let signIn = "ssoctl sign-in\(app.isDefault ? "" : " \(app.name)")"
        let next =
            app.target.isEmpty
            ? "It has no scopes, which each command then needs. Sign in with: \(signIn) --scope User.Read"
            : "Sign in with: \(signIn)"
        let chosen = app.newDefault.map {
            "\nThe default app is still \($0); to change that: ssoctl use \(app.name)"
        }
        return "Wrote \(app.file):\n\(app.text)\n\(next)\(chosen ?? "")"
    }
}

extension ClientID {
    /// What is wrong with it for an app at an authority, as a sentence without its full stop; nil if nothing is.
    ///
    /// Microsoft's clouds know GUIDs, and for personal accounts the 16 digits of older registrations. Other providers have IDs of
    /// any form.
    ///
    /// - Parameter authority: nil for that of the account, which is one of Microsoft's unless another one is named.
    func defect(at authority: Authority?) -> String? {
        let authority = authority ?? .common
        let isMicrosofts = CloudDirectory.isMicrosofts(authority.environment)
        let isOld = text.utf8.count == 16 && text.allSatisfy(\.isHexDigit)
        guard isMicrosofts, authority.kind != .openID, UUID(uuidString: text) == nil, !isOld else { return nil }
        return
            "“\(text)” is not an application (client) ID, which is a GUID; the Microsoft Entra admin center shows it in App "
            + "registrations, on the page “Overview” of the app"
    }
}

/// Lists the apps.
struct AppListCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the apps of the configuration.",
        discussion: """
            The app with “*” is the default one (ssoctl use APP).

            Examples:
              ssoctl app list
              ssoctl app list --json | jq -r '.apps[].name'
            """)

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var apps: [AppPrintout]
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let settings = try Settings.read()
        // Found once: there may be thousands of apps, among which it is looked for.
        let defaultName = settings.defaultAppName
        return Printout(apps: settings.configuration.apps.map { AppPrintout($0, defaultName: defaultName) })
    }

    func style(_ list: Printout) -> StyledText? {
        guard !list.apps.isEmpty else {
            return "No apps. Add one with: ssoctl init, or ssoctl app add graph --client-id CLIENT-ID --scope User.Read"
        }
        return Table.fitted(
            ["", "NAME", "CLIENT ID", "FOR", "AUTHORITY"],
            list.apps.map {
                [$0.isDefault ? "*" : "", $0.name, $0.clientId, $0.target, $0.authority ?? "the account's"]
            }, leavingOut: ["CLIENT ID", "AUTHORITY"], elsewhere: "“ssoctl app show NAME” and --json show all.")
    }
}

/// Shows an app.
struct AppShowCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show an app of the configuration.",
        discussion: """
            Examples:
              ssoctl app show                      the default app
              ssoctl app show graph
            """)

    @Argument(help: "The name; by default that of the default app.", completion: Candidates.app)
    var name: String?

    @OptionGroup var output: OutputOptions

    func execute(_ agent: AgentClient) async throws -> AppPrintout {
        let settings = try Settings.read()
        let words = { CommandLineWords("ssoctl", "app", "show", $0) }
        let app = if let name { try settings.app(named: name, words) } else { try settings.defaultApp(words) }
        return AppPrintout(app, defaultName: settings.defaultAppName)
    }

    func describe(_ app: AppPrintout) -> String? { app.text }
}

/// Removes an app from the user's configuration.
struct AppRemoveCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove an app from your configuration. Its tokens stay until you sign out.",
        discussion: """
            Examples:
              ssoctl sign-out alice --app mail     first, to remove its tokens too
              ssoctl app remove mail
            """,
        aliases: ["rm"])

    @Argument(help: "The name.", completion: Candidates.app)
    var name: String

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var removed: String
        var file: String
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let path = ConfigurationFiles.current.user
        let configuration = try Settings.read().configuration
        guard let app = configuration.app(named: name) else {
            let nearest = Suggestion.nearest(to: name, among: configuration.apps.map(\.name))
            let question = nearest.map { "; did you mean “\($0)”?" } ?? ""
            throw CommandFailure.usage(
                "“\(name)” is not an app of the configuration\(question)",
                nextCommand: nearest.map { CommandLineWords("ssoctl", "app", "remove", $0).text } ?? "ssoctl app list")
        }
        guard app.file == path else {
            throw CommandFailure(
                TokenError(
                    .invalidDeveloperParameter, "the app “\(name)” is in \(app.file), which ssoctl does not change"))
        }
        try ConfigurationEditor.change(path) { (editor) throws(TokenError) in try editor.removeApp(name) }
        return Printout(removed: name, file: path)
    }

    func describe(_ done: Printout) -> String? { "Removed \(done.removed) from \(done.file)." }
}

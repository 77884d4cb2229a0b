internal import AgentConfiguration
internal import ArgumentParser
internal import TokenModel

/// The options that name an app.
struct AppFilterOptions: ParsableArguments {
    @Option(name: .customLong("app"), help: "The name of an app in the configuration.", completion: Candidates.app)
    var name: String?

    @Option(
        name: .customLong("client-id"), help: "The application (client) ID of an app, instead of its name.",
        completion: Candidates.clientID, transform: ClientID.option)
    var clientID: ClientID?

    @Option(
        help: "The sharing group. By default that of the app, or the one of Microsoft's libraries.",
        completion: Candidates.group, transform: SharingGroup.option)
    var group: SharingGroup?

    func validate() throws { try AppChoice(option: name, clientID: clientID).validate() }

    /// Refuses an argument of a command whose app is an option.
    func refuse(_ word: String?, of command: String) throws {
        try refuseSurplus(word, of: command, "Its app") { ["--app", $0] }
    }

    /// The options as words of a command line.
    ///
    /// - Parameter other: the name of another app; nil for the app of the options.
    func words(name other: String? = nil) -> [String] {
        [("--app", other ?? name), ("--client-id", clientID?.text), ("--group", group?.name)]
            .flatMap { CommandLineWords.option($0, $1) }
    }
}

/// Refuses an argument for which a command has an option, with the words of the command that has it.
private func refuseSurplus(
    _ word: String?, of command: String, _ what: String, _ words: (String) -> [String]
) throws {
    guard let word else { return }
    let meant = CommandLineWords(["ssoctl", command] + words(word)).text
    throw ValidationError("“\(word)” is more than “\(command)” takes. \(what) is an option: \(meant)")
}

/// The argument and the options that name the app of a request.
struct AppOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The name of an app in the configuration, as “ssoctl app list” shows it.", valueName: "app"),
        completion: Candidates.app)
    var name: String?

    @OptionGroup var options: AppFilterOptions

    var values: AppChoice {
        AppChoice(argument: name, option: options.name, clientID: options.clientID, group: options.group)
    }

    func validate() throws { try values.validate() }

    /// Refuses a second argument of a command whose account is an option.
    func refuse(_ word: String?, of command: String, option: String) throws {
        try refuseSurplus(word, of: command, "The account") { values.words + CommandLineWords.option(option, $0) }
    }
}

/// The app to which a command is limited, and the configuration.
struct AppFilter {
    /// nil for every app.
    let clientID: ClientID?
    let sharingGroup: SharingGroup
    /// The account that is used if the command line names none.
    let defaultAccount: AccountName?
    let appNames: [ClientID: String]
    /// The app in a message; nil for every app.
    let appText: String?
    /// The sharing group of the command line; nil for that of the app.
    private let group: SharingGroup?
    private let settings: Settings?

    /// - Parameter command: the command for the app with a name, in case that another one was meant.
    /// - Throws: usage if the app is not in the configuration.
    init(_ options: AppFilterOptions, _ command: (String) -> CommandLineWords) throws(CommandFailure) {
        // A configuration that cannot be read is ignored if nothing of it is needed; other commands report it.
        let settings = options.name == nil ? try? Settings.read() : try Settings.read()
        let app = try options.name.map { name throws(CommandFailure) in try settings?.app(named: name, command) } ?? nil
        clientID = app?.clientID ?? options.clientID
        sharingGroup = options.group ?? app?.sharingGroup ?? .standard
        defaultAccount = settings?.defaultAccount
        appNames = settings?.appNames(first: app) ?? [:]
        appText = app.map { "“\($0.name)”" } ?? clientID?.text
        (group, self.settings) = (options.group, settings)
    }

    /// Whether the configuration names no app.
    var isWithoutApps: Bool { settings?.configuration.apps.isEmpty ?? false }

    /// The command by which a user signs in to an app.
    ///
    /// - Parameters:
    ///   - clientID: nil for the default app.
    ///   - own: the account's authority, if an account is to sign in: an app without an authority is at the public cloud.
    func signIn(_ clientID: ClientID?, at own: Authority? = nil) -> CommandLineWords {
        let app = clientID.flatMap { appNames[$0] }.flatMap { settings?.configuration.app(named: $0) }
        let target = app.map { [$0.name] } ?? CommandLineWords.option("--client-id", clientID?.text)
        let hasScopes = clientID == nil || app.map { !$0.scopes.isEmpty || $0.resource != nil } ?? false
        let isElsewhere = own.map { !CloudDirectory().sameCloud(Authority.common.environment, $0.environment) } ?? false
        let authority = isElsewhere && app?.authority == nil ? own.map { ["--authority", $0.url] } ?? [] : []
        return CommandLineWords("ssoctl", "sign-in") + target + (hasScopes ? [] : ["--scope", "User.Read"]) + authority
            + CommandLineWords.option("--group", group?.name)
    }
}

/// The options of the identity provider.
struct ProviderOptions: ParsableArguments {
    @Option(
        help:
            "The URL of the authority that issues the tokens. Without it, the app's is used; an app without one uses the account's, or common for a sign-in.",
        completion: Candidates.authority)
    var authority: String?

    @Option(
        name: .customLong("authority-kind"),
        help: "The kind of provider, if the URL does not tell; openid is any OpenID Connect provider.")
    var kind: AuthorityKindName?

    @Option(
        help: "The tenant: its domain or ID, or organizations, consumers or common.", completion: Candidates.tenant,
        transform: Self.tenant)
    var tenant: TenantName?

    @Option(help: "Microsoft's cloud, if it is not the public one.")
    var cloud: CloudName?

    var values: ProviderChoice { ProviderChoice(authority: authority, kind: kind, tenant: tenant, cloud: cloud) }

    func validate() throws { try values.validate() }

    @Sendable private static func tenant(_ text: String) throws -> TenantName {
        guard let tenant = TenantName(text) else {
            throw ValidationError("“\(text)” is not a tenant, such as contoso.com or its ID")
        }
        return tenant
    }
}

/// The options that name the permissions of a token: scopes, or a resource.
struct PermissionOptions: ParsableArguments {
    @Option(
        name: [.customShort("s"), .customLong("scope")], parsing: .singleValue,
        help: "A permission, or several with blanks or commas between them; may be repeated.",
        completion: Candidates.scope)
    var scope: [String] = []

    @Option(help: "A resource, as in ADAL, instead of scopes.", completion: Candidates.resource)
    var resource: String?

    var values: Permissions { Permissions(scope: scope, resource: resource) }

    func validate() throws { try values.validate() }
}

/// The options of what a token is for, and of how it is requested.
struct ScopeOptions: ParsableArguments {
    @OptionGroup var permissions: PermissionOptions

    @Option(help: "A claims request: JSON, or base64 as an API sends it in the header WWW-Authenticate.")
    var claims: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: "The app's registered redirect URI; http://localhost replaces one that is not on this machine.")
    var redirectURI: String?
}

/// The app, the provider and the scopes of a token request.
struct TargetOptions: ParsableArguments {
    @OptionGroup(title: "App") var app: AppOptions
    @OptionGroup(title: "Token") var token: ScopeOptions
    @OptionGroup(title: "Identity provider") var provider: ProviderOptions

    var values: TargetChoice {
        TargetChoice(
            app: app.values, permissions: token.permissions.values, claims: token.claims,
            redirectURI: token.redirectURI, provider: provider.values)
    }

    func validate() throws { try values.validate() }
}

/// The options that name an account.
struct AccountOptions: ParsableArguments {
    @Option(
        name: .customLong("account"), help: "The account: its identifier, its name, or the beginning of its name.",
        completion: Candidates.account)
    var identifier: String?

    @Option(help: "The account's name, or the beginning of it.", completion: Candidates.username)
    var username: String?

    var values: AccountChoice { AccountChoice(identifier: identifier, username: username) }

    func validate() throws { try values.validate() }
}

extension AuthorityKindName: ExpressibleByArgument {}
extension CloudName: ExpressibleByArgument {}

extension ScopeList {
    /// Refuses values of an option with a character that no scope has. Bytes that are not UTF-8 have been replaced by such a one.
    static func requireValid(_ values: [String]) throws {
        guard let scope = invalid(in: split(values)) else { return }
        throw ValidationError(
            "“\(scope)” is not a scope: it has a character other than the printable ones of ASCII, or a quotation mark or a backslash."
        )
    }
}

extension ClientID {
    /// The value of an option.
    @Sendable static func option(_ text: String) throws -> ClientID {
        guard let clientID = ClientID(text) else { throw ValidationError("a client ID is not blank") }
        return clientID
    }
}

extension SharingGroup {
    /// The value of an option.
    @Sendable static func option(_ text: String) throws -> SharingGroup {
        guard let group = SharingGroup(text) else { throw ValidationError("the name of a sharing group is not blank") }
        return group
    }
}

/// The names of the cache formats on the command line.
enum FormatName: String, ExpressibleByArgument, CaseIterable {
    case msalJSON = "msal-json"
    case adalJSON = "adal-json"
    case adalArchive = "adal-archive"

    var value: CacheFormat {
        switch self {
        case .msalJSON: .msalJSON
        case .adalJSON: .adalJSON
        case .adalArchive: .adalArchive
        }
    }
}

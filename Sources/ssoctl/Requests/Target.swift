internal import AgentClient
internal import AgentConfiguration
internal import TokenModel

/// What a token is requested for: the app, the scopes, and the authority if one is given.
struct Target {
    let clientID: ClientID
    /// The app's name in the configuration; nil if it was named by its client ID.
    let appName: String?
    /// The authority of the command line or of the app; nil for the account's.
    private(set) var authority: Authority?
    let sharingGroup: SharingGroup
    private let version: OAuthVersion
    private let scopes: ScopeSet
    /// The resource, as in ADAL; nil if there are scopes.
    private let resource: String?
    /// The app's authority in the configuration.
    private let appAuthority: Authority?
    private let redirectURI: String?
    private let claims: String?
    private var options: TargetChoice
    /// nil if the app was named by its client ID, which needs no file.
    private let settings: Settings?

    /// - Parameters:
    ///   - command: the name of the command, for the next one if this one cannot work.
    ///   - words: the other options of the command line, which the next one has too.
    /// - Throws: usage if no app is known, or nothing says what the token is for.
    init(_ options: TargetChoice, for command: String, keeping words: [String] = []) throws(CommandFailure) {
        self.options = options
        let app: ConfiguredApp?
        if let clientID = options.app.clientID {
            (settings, app, self.clientID) = (nil, nil, clientID)
        } else {
            let settings = try Settings.read()
            let configured = try Self.app(of: options, settings, for: command, words)
            (self.settings, app, clientID) = (settings, configured, configured.clientID)
        }
        let scopes = options.permissions.isEmpty ? app?.scopes ?? [] : options.permissions.scopes
        let resource = options.permissions.isEmpty ? app?.resource : options.permissions.resource
        guard !scopes.isEmpty || resource != nil else {
            throw .usage(
                "the app \(app.map { "“\($0.name)”" } ?? clientID.text) has no scopes in the configuration; give --scope or --resource",
                nextCommand: (options.command(command) + ["--scope", "User.Read"] + words).text)
        }
        appName = app?.name
        do throws(TokenError) { authority = try options.provider.authority(app: app?.authority) } catch {
            throw CommandFailure(error, status: .usage)
        }
        sharingGroup = options.app.group ?? app?.sharingGroup ?? .standard
        version = resource == nil ? .v2 : .v1
        self.scopes = resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes)
        (self.resource, appAuthority) = (resource, app?.authority)
        redirectURI = options.redirectURI ?? app?.redirectURI
        claims = try options.claims.map { text throws(CommandFailure) in try Self.claims(text, for: command) }
        try refuseSeveralResources(command, words)
    }

    /// The JSON of a claims request, which may be written in base64, as in the header `WWW-Authenticate` of an API that has refused a token.
    private static func claims(_ text: String, for command: String) throws(CommandFailure) -> String {
        let forms: [[UInt8]?] = [Array(text.utf8), Base64URL.decode(text).map { Array($0) }]
        for bytes in forms.compactMap(\.self) {
            if let tree = try? JSONReader.read(bytes, maximumValues: JSONReader.valuesOfMessage), tree.isObject {
                return String(decoding: bytes, as: UTF8.self)
            }
        }
        throw .usage(
            "“\(text)” is neither a JSON object nor the base64 of one, as --claims has to be",
            nextCommand: "ssoctl \(command) --help")
    }

    /// The app that the options name, or else the default one.
    private static func app(
        of options: TargetChoice, _ settings: Settings, for command: String, _ words: [String]
    ) throws(CommandFailure) -> ConfiguredApp {
        guard let name = options.app.argument ?? options.app.option else {
            return try settings.defaultApp { options.command(command, app: [$0]) + words }
        }
        if settings.configuration.app(named: name) == nil, name.contains("@") {
            throw accountFailure(name, of: options, for: command, words)
        }
        return try settings.app(named: name) { options.command(command, app: [$0]) + words }
    }

    /// The target of a command line. Unlike the initialiser, it asks the agent for the account that a word in the place of the app may
    /// begin.
    ///
    /// - Throws: as the initialiser.
    static func read(
        _ options: TargetChoice, for command: String, keeping words: [String], _ agent: AgentClient
    ) async throws -> Target {
        do throws(CommandFailure) { return try Target(options, for: command, keeping: words) } catch {
            throw await accountFailure(options, for: command, words, agent) ?? error
        }
    }

    /// The failure if the name of an app is that of no app, nor nearly that of one, and begins the name of an account; nil otherwise.
    /// A blank name begins every one.
    private static func accountFailure(
        _ options: TargetChoice, for command: String, _ words: [String], _ agent: AgentClient
    ) async -> CommandFailure? {
        guard options.app.clientID == nil, let name = options.app.argument ?? options.app.option,
            name.trimmedNonEmpty != nil, !name.contains("@"),
            let apps = try? Settings.read().configuration.apps.map(\.name), !apps.contains(name),
            Suggestion.nearest(to: name, among: apps) == nil
        else { return nil }
        let finder = AccountFinder(agent: agent, sharingGroup: options.app.group ?? .standard)
        guard let found = try? await finder.accounts(AccountName(name), of: nil), let account = found.first else {
            return nil
        }
        // A page needs the whole name; the beginning of several names gets their list.
        return accountFailure(found.count == 1 ? account.username ?? name : name, of: options, for: command, words)
    }

    /// The failure if the name of an app is that of an account.
    private static func accountFailure(
        _ name: String, of options: TargetChoice, for command: String, _ words: [String]
    ) -> CommandFailure {
        let account = CommandLineWords.option(command == "sign-in" ? "--login-hint" : "--account", name)
        let isNamed = ["--login-hint", "--account", "--username"].contains { option in
            words.contains { $0 == option || $0.hasPrefix("\(option)=") }
        }
        return .usage(
            "“\(options.app.argument ?? options.app.option ?? name)” is an account, not an app",
            nextCommand: (options.command(command, app: []) + (isNamed ? [] : account) + words).text)
    }

    /// Entra ID issues a token for one resource, and refuses a request with two after the user has signed in.
    private func refuseSeveralResources(_ command: String, _ words: [String]) throws(CommandFailure) {
        guard version == .v2, (authority ?? .common).kind == .entra else { return }
        let resources = ScopeList.resources(scopes.scopes)
        guard resources.count > 1 else { return }
        throw .usage(
            "the scopes are for \(resources.count) resources, \(resources.joined(separator: " and ")), and a token is for one; "
                + "request a token for each",
            nextCommand: (options.command(
                command, scopes: scopes.scopes.filter { ScopeList.resources([$0]) == [resources[0]] }
            ) + words).text)
    }

    /// The account of the environment or the configuration; nil if there is none.
    func defaultAccount() throws(CommandFailure) -> AccountName? {
        if let settings { return settings.defaultAccount }
        if let name = Settings.accountVariable { return name }
        return try Settings.read().defaultAccount
    }

    /// Of several accounts, those at the provider of the authority, and of these, those that the authority is for. All of them if there are
    /// none, or there is no authority.
    func accounts(among found: [Account]) -> [Account] {
        guard let authority else { return found }
        let own = found.filter { CloudDirectory().sameCloud(authority.environment, $0.environment) }
        let meant = own.filter { authority.isFor($0.homeAccountID) }
        return [meant, own, found].first { !$0.isEmpty } ?? []
    }

    /// The parameters of a request at an authority.
    func parameters(at authority: Authority) -> TokenParameters {
        TokenParameters(
            clientID: clientID, sharingGroup: sharingGroup, authority: authority, version: version, scopes: scopes,
            redirectURI: redirectURI, claims: claims,
            // The user has named the authority, so that it is trusted without validation.
            validatesAuthority: false)
    }

    /// The app in a message, with the sharing group if it is not the usual one.
    var appText: String {
        let app = appName.map { "“\($0)”" } ?? clientID.text
        return sharingGroup == .standard ? app : "\(app) in the group “\(sharingGroup.name)”"
    }

    /// Whether the scopes or the resource are those of the app in the configuration.
    var takesScopesFromApp: Bool { options.permissions.isEmpty }

    /// The scopes, or the resource, as they were named.
    var scopeText: String { resource ?? scopes.description }

    /// The same target at the authority of an account, for a sign-in of it: one without an authority is at the public cloud. Unchanged if
    /// that is right, or if the target has an authority.
    func at(_ own: Authority?) -> Target {
        guard authority == nil, let own, !CloudDirectory().sameCloud(Authority.common.environment, own.environment)
        else { return self }
        var target = self
        (target.authority, target.options.provider.authority) = (own, own.url)
        return target
    }

    /// The command for the same app, scopes and authority.
    func command(_ name: String, _ more: [String] = []) -> String { words(name, more).text }

    /// The command for the same app, scopes and authority at another tenant.
    func command(_ name: String, atTenant tenant: String, _ more: [String]) -> String {
        (options.command(name, tenant: tenant) + more).text
    }

    /// The command for the same app and authority, in which the user replaces the scopes or the resource.
    func command(_ name: String, withOtherScopes more: [String]) -> String {
        (options.command(name, scopes: resource == nil ? ["SCOPE"] : [], resource: resource.map { _ in "RESOURCE" })
            + more)
            .text
    }

    /// The command that checks the authority of a request.
    func doctor(at authority: Authority) -> String {
        let words = CommandLineWords("ssoctl", "doctor")
        if let appName, authority == appAuthority { return (words + [appName]).text }
        let isPlain = (try? Authority(authority.url))?.kind == authority.kind
        let kind = isPlain ? nil : AuthorityKindName.allCases.first { $0.kind == authority.kind }
        return (words + ["--authority", authority.url] + (kind.map { ["--authority-kind", $0.rawValue] } ?? [])).text
    }

    /// The words of the command for the same app, scopes and authority.
    func words(_ name: String, _ more: [String] = []) -> CommandLineWords { options.command(name) + more }
}

extension TargetChoice {
    /// A command with the same options.
    ///
    /// - Parameters:
    ///   - app: the words that name the app; nil for those of the options.
    ///   - scopes: nil for those of the options.
    ///   - resource: nil for that of the options.
    ///   - tenant: nil for that of the options; another one is a part of the authority, if that is named.
    fileprivate func command(
        _ name: String, app words: [String]? = nil, scopes: [String]? = nil, resource: String? = nil,
        tenant: String? = nil
    ) -> CommandLineWords {
        let authority = provider.authority.map { url in tenant.map { Self.authority(url, withTenant: $0) } ?? url }
        let values = [
            ("--resource", resource ?? permissions.resource), ("--claims", claims),
            ("--redirect-uri", redirectURI),
            ("--authority", authority), ("--authority-kind", provider.kind?.rawValue),
            ("--tenant", authority == nil ? tenant ?? provider.tenant?.text : nil),
            ("--cloud", provider.cloud?.rawValue),
            ("--group", app.group?.name),
        ]
        return CommandLineWords("ssoctl", name) + (words ?? app.words)
            + (scopes ?? permissions.scope).flatMap { CommandLineWords.option("--scope", $0) }
            + values.flatMap { CommandLineWords.option($0, $1) }
    }

    /// The URL of an authority with another tenant in its last path segment. Unlike an `Authority`, it keeps the capitals of a
    /// placeholder. Unchanged if the tenant is not there, as in a B2C policy.
    private static func authority(_ url: String, withTenant tenant: String) -> String {
        guard let parts = try? URLParts(url), (try? Authority(url))?.kind == .entra else { return url }
        return "\(parts.scheme)://\(parts.environment)/"
            + (parts.segments.dropLast() + [tenant]).joined(separator: "/")
    }
}

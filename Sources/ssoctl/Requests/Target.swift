internal import AgentConfiguration
internal import TokenModel

/// What a token is requested for: the app, the scopes, and the authority if one is given.
struct Target {
    let clientID: ClientID
    /// The app's name in the configuration; nil if it was named by its client ID.
    let appName: String?
    /// The authority of the command line or of the app; nil for the account's.
    let authority: Authority?
    let sharingGroup: SharingGroup
    private let version: OAuthVersion
    private let scopes: ScopeSet
    private let redirectURI: String?
    private let claims: String?
    private let options: TargetOptions
    /// nil if the app was named by its client ID, which needs no file.
    private let settings: Settings?

    /// - Throws: usage if no app is known, or nothing says what the token is for.
    init(_ options: TargetOptions) throws(CommandFailure) {
        self.options = options
        settings = options.app.clientID == nil ? try Settings.read() : nil
        let app = try settings.map { settings throws(CommandFailure) in try settings.app(of: options.app) }
        guard let clientID = app?.clientID ?? options.app.clientID.flatMap(ClientID.init) else {
            throw .usage("--client-id must not be blank")
        }
        let scopes = options.token.isEmpty ? app?.scopes ?? [] : options.token.scopes
        let resource = options.token.isEmpty ? app?.resource : options.token.resource
        guard !scopes.isEmpty || resource != nil else {
            throw .usage("the app “\(app?.name ?? "")” has no scopes in the configuration; give --scope or --resource")
        }
        self.clientID = clientID
        appName = app?.name
        do throws(TokenError) { authority = try options.provider.authority(app: app?.authority) } catch {
            throw CommandFailure(error, status: .usage)
        }
        sharingGroup = options.app.group.flatMap(SharingGroup.init) ?? app?.sharingGroup ?? .standard
        version = resource == nil ? .v2 : .v1
        self.scopes = resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes)
        redirectURI = options.token.redirectURI ?? app?.redirectURI
        claims = options.token.claims
        try refuseSeveralResources()
    }

    /// Entra ID issues a token for one resource, and refuses a request with two after the user has signed in.
    private func refuseSeveralResources() throws(CommandFailure) {
        guard version == .v2, (authority ?? .common).kind == .entra else { return }
        let resources = ScopeList.resources(scopes.scopes)
        guard resources.count > 1 else { return }
        throw .usage(
            "the scopes are for \(resources.count) resources, \(resources.joined(separator: " and ")), and a token is for one; "
                + "request a token for each",
            nextCommand: (CommandLineWords(["ssoctl", "token"]) + appWords
                + scopes.scopes.filter { ScopeList.resources([$0]) == [resources[0]] }.flatMap { ["--scope", $0] }).text
        )
    }

    /// The account of the environment or the configuration; nil if there is none.
    func defaultAccount() throws(CommandFailure) -> AccountName? {
        if let name = Settings.accountVariable { return AccountName(name) }
        if let settings { return settings.defaultAccount.map { AccountName($0) } }
        return try Settings.read().defaultAccount.map { AccountName($0) }
    }

    /// The parameters of a request at an authority.
    func parameters(at authority: Authority) -> TokenParameters {
        TokenParameters(
            clientID: clientID, sharingGroup: sharingGroup, authority: authority, version: version, scopes: scopes,
            redirectURI: redirectURI, claims: claims,
            // The user has named the authority, so that it is trusted without validation.
            validatesAuthority: false)
    }

    /// The app in a message.
    var appText: String { appName.map { "“\($0)”" } ?? clientID.text }

    /// The command for the same app, scopes and authority.
    func command(_ name: String, _ more: [String] = []) -> String {
        var words = CommandLineWords(["ssoctl", name]) + appWords
        words = words + options.token.scope.flatMap { ["--scope", $0] }
        if let resource = options.token.resource { words = words + ["--resource", resource] }
        if let authority = options.provider.authority { words = words + ["--authority", authority] }
        if let kind = options.provider.kind { words = words + ["--authority-kind", kind.rawValue] }
        if let tenant = options.provider.tenant { words = words + ["--tenant", tenant.text] }
        if let cloud = options.provider.cloud { words = words + ["--cloud", cloud.rawValue] }
        if let group = options.app.group { words = words + ["--group", group] }
        return (words + more).text
    }

    private var appWords: [String] {
        if let name = options.app.name ?? options.app.option { return [name] }
        return options.app.clientID.map { ["--client-id", $0] } ?? []
    }
}

internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// The options of a token request: the app, the authority, and the scopes (MSAL) or the resource (ADAL).
struct TargetOptions: ParsableArguments {
    @Option(name: .customLong("client-id"), help: "The application (client) ID.")
    var clientID: String

    @Option(help: "The authority that issues the tokens.")
    var authority = Authority.common.url

    @Option(
        name: .customLong("authority-kind"),
        help: "The kind of provider, if the URL does not tell; openid is any OpenID Connect provider.")
    var kind: AuthorityKind?

    @Option(name: .customLong("scope"), parsing: .singleValue, help: "A permission; may be repeated.")
    var scopes: [String] = []

    @Option(help: "A resource, as in ADAL, instead of scopes.")
    var resource: String?

    @Option(help: "JSON of a claims request.")
    var claims: String?

    @Option(help: "The sharing group.")
    var group = SharingGroup.standard.name

    @Option(
        name: .customLong("redirect-uri"),
        help: "The app's registered redirect URI; http://localhost replaces one that is not on this machine.")
    var redirectURI: String?

    func validate() throws {
        guard scopes.isEmpty != (resource == nil) else {
            throw ValidationError("Give either --scope, once or more, or --resource.")
        }
        guard ClientID(clientID) != nil else { throw ValidationError("--client-id must not be blank.") }
        guard SharingGroup(group) != nil else { throw ValidationError("--group must not be blank.") }
        do { _ = try Authority(authority, kind: kind?.kind) } catch {
            throw ValidationError("--authority: \(error.message).")
        }
    }

    func parameters() throws(TokenError) -> TokenParameters {
        guard let clientID = ClientID(clientID), let group = SharingGroup(group) else {
            throw TokenError(.invalidDeveloperParameter, "--client-id and --group must not be blank")
        }
        return TokenParameters(
            clientID: clientID, sharingGroup: group,
            authority: try Authority(authority, kind: kind?.kind),
            version: resource == nil ? .v2 : .v1,
            scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes), redirectURI: redirectURI,
            // The user has named the authority, so that it is trusted without validation.
            claims: claims, validatesAuthority: false)
    }
}

/// The options that name an account.
struct AccountOptions: ParsableArguments {
    @Option(name: .customLong("account"), help: "The account's identifier, as “ssoctl accounts” prints it.")
    var identifier: String?

    @Option(help: "The account's name.")
    var username: String?

    func validate() throws {
        guard (identifier == nil) != (username == nil) else {
            throw ValidationError("Name the account: --account or --username.")
        }
        guard !reference.isEmpty else { throw ValidationError("The account's name must not be blank.") }
    }

    var reference: AccountReference {
        AccountReference(homeAccountID: identifier.flatMap(HomeAccountID.init), username: username)
    }

    /// - Throws: `accountNotFound` (-53010) if the sharing group has no such account.
    func requireKnown(_ agent: AgentClient, in group: SharingGroup) async throws(TokenError) {
        let known = try await agent.listAccounts(
            ListAccounts(
                clientID: nil, sharingGroup: group, homeAccountID: reference.homeAccountID,
                username: reference.username, onlySignedIn: false))
        guard known.isEmpty else { return }
        throw TokenError(
            .accountNotFound,
            "no account \(identifier ?? username ?? "") is signed in; see: ssoctl accounts, or sign in with: ssoctl sign-in"
        )
    }
}

/// The names of the kinds of identity provider on the command line.
enum AuthorityKind: String, ExpressibleByArgument, CaseIterable {
    case entra, b2c, adfs, ciam, openid

    var kind: Authority.Kind {
        switch self {
        case .entra: .entra
        case .b2c: .b2c
        case .adfs: .adfs
        case .ciam: .ciam
        case .openid: .openID
        }
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

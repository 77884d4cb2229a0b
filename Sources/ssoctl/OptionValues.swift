internal import AgentConfiguration
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

// What a command line says, as values. ArgumentParser fills types of its own, which have these as `values`. To make those takes two fifths of
// the instructions of `ssoctl token`, which therefore reads plain command lines without them.

/// The app of a request.
struct AppChoice {
    /// The name that the argument of the command has given.
    var argument: String?
    /// The name that an option has given.
    var option: String?
    var clientID: ClientID?
    var group: SharingGroup?

    func validate() throws {
        guard option == nil || clientID == nil else { throw ValidationError("Name one app: --app or --client-id.") }
        guard argument == nil || (option == nil && clientID == nil) else {
            throw ValidationError("Name one app: APP, --app or --client-id.")
        }
    }

    /// The words that name the app.
    var words: [String] {
        if let name = argument ?? option { return [name] }
        return CommandLineWords.option("--client-id", clientID?.text)
    }
}

/// The identity provider of a request.
struct ProviderChoice {
    var authority: String?
    var kind: AuthorityKindName?
    var tenant: TenantName?
    var cloud: CloudName?

    func validate() throws {
        guard authority == nil || (tenant == nil && cloud == nil) else {
            throw ValidationError("Give either --authority, or --tenant and --cloud.")
        }
        guard let authority else { return }
        try Self.validate(authority, kind)
    }

    /// - Throws: what is wrong with an authority, and with which kind it is right.
    static func validate(_ url: String, _ kind: AuthorityKindName?) throws {
        do throws(TokenError) { _ = try Authority(url, kind: kind?.kind) } catch {
            let other = kind == nil ? try? Authority(url, kind: .openID) : nil
            let isOther = other.map { !CloudDirectory.isMicrosofts($0.environment) } ?? false
            let advice = isOther ? " If this is another OpenID Connect provider, add --authority-kind openid." : ""
            throw ValidationError("--authority: \(error.message).\(advice)")
        }
    }

    /// The authority of a request.
    ///
    /// - Parameter app: the app's, if it has one.
    func authority(app: Authority?) throws(TokenError) -> Authority? {
        if let authority { return try Authority(authority, kind: kind?.kind) }
        guard tenant != nil || cloud != nil else { return app }
        guard let app, cloud == nil, let tenant else {
            return Authority(cloud: cloud ?? .public, tenant: tenant)
        }
        return app.withRealm(tenant.text)
    }

    /// The options as words of a command line.
    var words: [String] {
        [
            ("--authority", authority), ("--authority-kind", kind?.rawValue), ("--tenant", tenant?.text),
            ("--cloud", cloud?.rawValue),
        ].flatMap { option, value in value.map { [option, $0] } ?? [] }
    }
}

/// The permissions of a token: scopes, or a resource.
struct Permissions {
    /// The values of `--scope` as given: each may be several scopes.
    var scope: [String] = []
    var resource: String?

    func validate() throws {
        guard scope.isEmpty || resource == nil else { throw ValidationError("Give either --scope or --resource.") }
        guard scope.isEmpty || !scopes.isEmpty else { throw ValidationError("--scope must not be blank.") }
        guard resource.map({ $0.trimmedNonEmpty != nil }) ?? true else {
            throw ValidationError("--resource must not be blank.")
        }
        try ScopeList.requireValid(scope)
    }

    /// The scopes without the blanks and commas between them.
    var scopes: [String] { ScopeList.split(scope) }

    var isEmpty: Bool { scope.isEmpty && resource == nil }
}

/// The app, the provider and the permissions of a token request.
struct TargetChoice {
    var app = AppChoice()
    var permissions = Permissions()
    /// JSON of a claims request.
    var claims: String?
    var redirectURI: String?
    var provider = ProviderChoice()

    func validate() throws {
        if app.clientID != nil, permissions.isEmpty {
            throw ValidationError("Give either --scope, once or more, or --resource.")
        }
    }
}

/// The account of a request.
struct AccountChoice {
    var identifier: String?
    var username: String?

    func validate() throws {
        guard identifier == nil || username == nil else {
            throw ValidationError("Name the account once: --account or --username.")
        }
        guard [identifier, username].allSatisfy({ $0.map { $0.trimmedNonEmpty != nil } ?? true }) else {
            throw ValidationError("The account's name must not be blank.")
        }
    }

    /// The options as words of a command line.
    var words: [String] {
        CommandLineWords.option("--account", identifier) + CommandLineWords.option("--username", username)
    }

    /// The account that the options name; nil if they name none.
    var name: AccountName? {
        identifier.map { AccountName($0, isIdentifier: true) } ?? username.map { AccountName($0, isIdentifier: false) }
    }
}

/// When a cached token is used.
struct Freshness {
    var forceRefresh = false
    /// In seconds.
    var minimumValidity: Int64?

    func validate() throws {
        guard minimumValidity.map({ 0...Self.longest ~= $0 }) ?? true else {
            throw ValidationError("--min-valid is a number of seconds, \(Self.longest) at most.")
        }
    }

    /// The options as words of a command line.
    var words: [String] {
        (forceRefresh ? ["--force-refresh"] : []) + (minimumValidity.map { ["--min-valid", "\($0)"] } ?? [])
    }

    private static let longest: Int64 = 86_400
}

/// Which part of a token is printed, and where.
struct TokenForm {
    var isIDToken = false
    var decodes = false
    var isHeader = false
    var file: String?

    func validate(isJSON: Bool) throws {
        guard file != "-" else { throw ValidationError("Without --output, the token is written to standard output.") }
        guard file?.isEmpty != true else { throw ValidationError("--output must not be blank.") }
        guard !isHeader || !(isJSON || decodes) else {
            throw ValidationError("--header goes with neither --decode nor --json.")
        }
        guard !isHeader || !isIDToken else { throw ValidationError("An ID token is not sent in a header.") }
    }

    /// The options as words of a command line.
    var words: [String] {
        [("--id-token", isIDToken), ("--decode", decodes), ("--header", isHeader)].filter(\.1).map(\.0)
            + CommandLineWords.option("--output", file)
    }

    /// Writes a text and the end of its line.
    func write(_ text: String, to path: String) throws(TokenError) {
        let file = try PrivateFileWriter(path, replacing: true, .commandLine)
        try file.write(Secret(text + "\n"))
        try file.finish()
    }
}

internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Prints an access token, without user interaction.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token and nothing else, without user interaction.",
        discussion: """
            Without --account, the account is the one of SSO_AGENT_ACCOUNT, the default of “ssoctl use”, or the only one that is \
            signed in to the app; several are listed, with exit status 2. Without an authority, it is that of the app's \
            configuration, or else the account's.

            Examples:
              ssoctl token                         the default app and account
              ssoctl token graph --account alice   an app, and an account
              ssoctl token --header -o auth.txt    for: curl -H @auth.txt URL
              ssoctl token --client-id CLIENT-ID --scope User.Read
            """)

    @OptionGroup var target: TargetOptions

    /// The argument of other commands for the account, which leads to the option of this command.
    @Argument(help: .hidden)
    var word: String?

    @OptionGroup(title: "Account") var account: AccountOptions
    @OptionGroup(title: "Freshness") var freshness: FreshnessOptions
    @OptionGroup(title: "Output") var form: TokenFormOptions
    @OptionGroup var output: OutputOptions

    private var work: TokenWork {
        TokenWork(
            target: target.values, account: account.values, freshness: freshness.values, form: form.values,
            isJSON: output.json)
    }

    func validate() throws {
        try target.app.refuse(word, of: "token", option: "--account")
        try form.values.validate(isJSON: output.json)
    }

    func run() async throws { try await work.run() }
}

/// The work of `ssoctl token`, whichever parser has read its command line.
struct TokenWork: CommandWork {
    var target = TargetChoice()
    var account = AccountChoice()
    var freshness = Freshness()
    var form = TokenForm()
    var isJSON = false

    struct Printout: Encodable {
        /// The access token; nil if the ID token or only the claims were asked for.
        var accessToken: String?
        /// The ID token; nil unless it was asked for.
        var idToken: String?
        /// The claims of the token; nil unless they were asked for, in place of the token.
        var claims: JSONValue?
        /// The expiry time of the token; nil for an ID token without one.
        var expiresOn: Int64?
        /// The scopes of an access token; nil for an ID token, as is `tokenType`.
        var scopes: [String]?
        var tokenType: String?
        var account: AccountJSON
        var fromCache: Bool

        /// - Parameter idToken: the ID token, in place of the access token; nil if that was asked for.
        init(_ result: TokenResult, idToken: String?) {
            (account, fromCache) = (AccountJSON(result.account, hasProfiles: false), result.isFromCache)
            guard let idToken else {
                accessToken = result.accessToken.reveal()
                (expiresOn, scopes, tokenType) = (result.expiresOn, result.scopes, result.tokenType)
                return
            }
            (self.idToken, expiresOn) = (idToken, TokenClaims.end(of: idToken))
        }

        /// Replaces the token by its claims.
        mutating func decode() throws(TokenError) {
            claims = try TokenClaims.decode(idToken ?? accessToken ?? "")
            (accessToken, idToken) = (nil, nil)
        }
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let target = try await Target.read(
            target, for: "token", keeping: account.words + freshness.words + form.words, agent)
        let name = try account.name ?? target.defaultAccount()
        let result = try await SilentToken(
            agent: agent, target: target, name: name, isNamed: account.name != nil, freshness: freshness,
            formWords: form.words
        ).acquire()
        if form.isIDToken, result.idToken == nil {
            throw CommandFailure(
                TokenError(.serverInvalidResponse, "there is no ID token for this app and account"),
                nextCommand: await target.signIn(result.account, agent))
        }
        // The result of a request for no resource, as B2C answers it.
        if !form.isIDToken, result.accessToken.isEmpty {
            throw TokenError(
                .serverInvalidResponse,
                "the identity provider issued an ID token and no access token; request a scope of an API, or --id-token"
            )
        }
        var printout = Printout(result, idToken: form.isIDToken ? result.idToken : nil)
        if form.decodes { try printout.decode() }
        // A line break would begin a header of its own, and any other control character may do something to a terminal.
        if !isJSON, !form.decodes, describe(printout)?.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) == true {
            throw TokenError(.malformedMessage, "the agent's token has control characters, and is not printed")
        }
        if let file = form.file {
            try form.write(isJSON ? Terminal.json(printout) : describe(printout) ?? "", to: file)
        }
        return printout
    }

    func describe(_ token: Printout) -> String? {
        if let claims = token.claims { return Terminal.json(claims) }
        guard let text = token.idToken ?? token.accessToken else { return nil }
        return form.isHeader ? "Authorization: \(token.tokenType ?? "Bearer") \(text)" : text
    }

    func style(_ token: Printout) -> StyledText? { describe(token).map { StyledText($0).fixed } }

    var isQuiet: Bool { form.file != nil }
}

/// The options that say when a cached token is used.
struct FreshnessOptions: ParsableArguments {
    @Flag(name: .customLong("force-refresh"), help: "Do not use a cached access token.")
    var forceRefresh = false

    @Option(
        name: .customLong("min-valid"), parsing: .unconditional,
        help: ArgumentHelp(
            "Renew a cached token that is valid for fewer seconds than this. By default 300.",
            valueName: "seconds"))
    var minimumValidity: Int64?

    var values: Freshness { Freshness(forceRefresh: forceRefresh, minimumValidity: minimumValidity) }

    func validate() throws { try values.validate() }
}

/// The options that say which part of a token is printed, and where.
struct TokenFormOptions: ParsableArguments {
    @Flag(name: .customLong("id-token"), help: "Print the ID token instead of the access token.")
    var isIDToken = false

    @Flag(
        name: .customLong("decode"),
        help: "Print the claims of the token as JSON, and not the token. The signature is not checked.")
    var decodes = false

    @Flag(name: .customLong("header"), help: "Print a header line for HTTP: “Authorization: Bearer …”.")
    var isHeader = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "Write to a file that only you can read, in one step, instead of standard output.", completion: .file())
    var file: String?

    var values: TokenForm { TokenForm(isIDToken: isIDToken, decodes: decodes, isHeader: isHeader, file: file) }
}

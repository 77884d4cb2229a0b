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
        var accessToken: String
        var expiresOn: Int64
        var scopes: [String]
        var account: AccountJSON
        var tokenType: String
        var fromCache: Bool
        /// The ID token; nil unless it was asked for.
        var idToken: String?
        /// The claims of the token; nil unless they were asked for.
        var claims: JSONValue?

        init(_ result: TokenResult) {
            accessToken = result.accessToken.reveal()
            (expiresOn, scopes, tokenType) = (result.expiresOn, result.scopes, result.tokenType)
            (account, fromCache) = (AccountJSON(result.account, hasProfiles: false), result.isFromCache)
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
        var printout = Printout(result)
        if form.isIDToken {
            guard let token = result.idToken else {
                throw CommandFailure(
                    TokenError(.serverInvalidResponse, "there is no ID token for this app and account"),
                    nextCommand: target.command(
                        "sign-in", result.account.username.map { CommandLineWords.option("--login-hint", $0) } ?? []))
            }
            printout.idToken = token
        }
        if form.decodes { printout.claims = try TokenClaims.decode(printout.idToken ?? printout.accessToken) }
        if let file = form.file {
            try form.write(isJSON ? Terminal.json(printout) : describe(printout) ?? "", to: file)
        }
        return printout
    }

    func describe(_ token: Printout) -> String? {
        if let claims = token.claims { return Terminal.json(claims) }
        let text = token.idToken ?? token.accessToken
        return form.isHeader ? "Authorization: \(token.tokenType) \(text)" : text
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
            "The time for which a cached token has to be valid still; a shorter one is renewed. By default 300.",
            valueName: "seconds"))
    var minimumValidity: Int64?

    var values: Freshness { Freshness(forceRefresh: forceRefresh, minimumValidity: minimumValidity) }

    func validate() throws { try values.validate() }
}

/// The options that say which part of a token is printed, and where.
struct TokenFormOptions: ParsableArguments {
    @Flag(name: .customLong("id-token"), help: "Print the ID token instead of the access token.")
    var isIDToken = false

    @Flag(name: .customLong("decode"), help: "Print the claims of the token as JSON. The signature is not checked.")
    var decodes = false

    @Flag(name: .customLong("header"), help: "Print a header line for HTTP: “Authorization: Bearer …”.")
    var isHeader = false

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: "Write to a file that only you can read, in one step, instead of standard output.", completion: .file())
    var file: String?

    var values: TokenForm { TokenForm(isIDToken: isIDToken, decodes: decodes, isHeader: isHeader, file: file) }
}

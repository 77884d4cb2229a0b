internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Signs an account in for every app of the sharing group.
struct SignInCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in, in a browser or with a code on another device.",
        discussion: """
            The page is printed too, so that another browser can open it. Without a display, or if no browser starts, a code is \
            shown for a browser on another device.

            Examples:
              ssoctl sign-in                       the default app
              ssoctl sign-in graph --tenant contoso.com --login-hint alice@contoso.com
              ssoctl sign-in --device-code         with a code, such as over SSH
              ssoctl sign-in --client-id CLIENT-ID --scope User.Read
            """,
        aliases: ["login"])

    @OptionGroup var target: TargetOptions

    /// The argument of other commands for the account, which leads to the option of this command.
    @Argument(help: .hidden)
    var word: String?

    @OptionGroup(title: "Sign-in") var manner: SignInOptions
    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    struct Printout: Encodable {
        var account: AccountJSON
        var accessToken: String
        var expiresOn: Int64
        var scopes: [String]
    }

    func validate() throws { try target.app.refuse(word, of: "sign-in", option: "--login-hint") }

    func execute(_ agent: AgentClient) async throws -> Printout {
        let target = try await Target.read(target.values, for: "sign-in", keeping: manner.words, agent)
        let request = BeginInteractive(
            parameters: target.parameters(at: target.authority ?? .common), prompt: manner.prompt,
            loginHint: manner.loginHint, domainHint: manner.domainHint)
        let dialog = SignInDialog(agent: agent, request: request, method: manner.method, appText: target.appText)
        do {
            let result = try await Interruption.cancelling { try await dialog.run() }
            if let hint = manner.loginHint, let username = result.account.loginHint,
                hint.contains("@"), hint.lowercased() != username.lowercased()
            {
                Terminal.printError(
                    ["ssoctl: --login-hint suggested \(hint), and \(username) has signed in"].joinedLines)
            }
            return Printout(
                account: AccountJSON(result.account, hasProfiles: false), accessToken: result.accessToken.reveal(),
                expiresOn: result.expiresOn, scopes: result.scopes)
        } catch {
            throw CommandFailure(caught: error).advised(for: target, manner)
        }
    }

    func style(_ done: Printout) -> StyledText? { .green("Signed in") + StyledText(" as \(done.account.line)") }
}

/// The options that say how the user signs in.
struct SignInOptions: ParsableArguments {
    @Option(
        name: .customLong("login-hint"), help: "The account name to suggest on the sign-in page.",
        completion: Candidates.username)
    var loginHint: String?

    @Option(
        name: .customLong("domain-hint"),
        help: "The domain of the account, so that its own sign-in page is shown at once.")
    var domainHint: String?

    @Option(
        help: "What the page asks for: \(prompts.dropLast().joined(separator: ", ")) or none.",
        completion: .list(prompts))
    var prompt: String?

    /// The options of other commands for the account, which lead to the one of this command.
    @Option(name: [.customLong("account"), .customLong("username")], help: .hidden)
    var account: String?

    @Flag(name: .customLong("device-code"), help: "Print a code to enter on another device.")
    var usesDeviceCode = false

    @Flag(name: .customLong("browser"), help: "Use a browser, without falling back to a code.")
    var usesBrowser = false

    @Flag(name: .customLong("print-url"), help: "Print the page, and open no browser.")
    var printsURL = false

    /// The values of `prompt` (OpenID Connect Core 1.0 section 3.1.2.1, and Initiating User Registration), of which a request can have
    /// several.
    private static let prompts = ["select_account", "login", "consent", "create", "none"]

    func validate() throws {
        if let account {
            let hint = CommandLineWords(CommandLineWords.loginHint(account)).text
            throw ValidationError("A sign-in can only suggest an account, with \(hint).")
        }
        guard prompt.map({ $0.split(separator: " ").allSatisfy { Self.prompts.contains(String($0)) } }) ?? true else {
            throw ValidationError("--prompt has to be \(Self.prompts.dropLast().joined(separator: ", ")) or none.")
        }
        guard [usesDeviceCode, usesBrowser, printsURL].filter(\.self).count <= 1 else {
            throw ValidationError("Choose one of --browser, --device-code and --print-url.")
        }
        guard loginHint.map({ $0.trimmedNonEmpty != nil }) ?? true else {
            throw ValidationError("The account's name must not be blank.")
        }
        guard !usesDeviceCode || (prompt == nil && domainHint == nil) else {
            throw ValidationError(
                "--prompt and --domain-hint are for a sign-in page, which --device-code does not open.")
        }
    }

    var method: SignInDialog.Method {
        usesDeviceCode ? .deviceCode : usesBrowser ? .browser : printsURL ? .printedURL : .automatic
    }

    /// The options as words of a command line.
    var words: [String] {
        let values = [("--login-hint", loginHint), ("--domain-hint", domainHint), ("--prompt", prompt)]
        let flags = [("--device-code", usesDeviceCode), ("--browser", usesBrowser), ("--print-url", printsURL)]
        return values.flatMap { CommandLineWords.option($0, $1) }
            + flags.filter(\.1).map(\.0)
    }

    /// These options for a code on another device, without those that the sign-in page of a browser needs.
    var onAnotherDevice: SignInOptions {
        var other = self
        (other.prompt, other.domainHint) = (nil, nil)
        (other.usesDeviceCode, other.usesBrowser, other.printsURL) = (true, false, false)
        return other
    }

    /// These options for a browser that the user starts.
    var withPrintedPage: SignInOptions {
        var other = self
        (other.usesDeviceCode, other.usesBrowser, other.printsURL) = (false, false, true)
        return other
    }

    /// These options with a `prompt` parameter.
    func asking(_ prompt: String) -> SignInOptions {
        var other = self
        (other.prompt, other.usesDeviceCode) = (prompt, false)
        return other
    }
}

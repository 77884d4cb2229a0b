internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Signs an account in for every app of the sharing group.
struct SignInCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in, in a browser or with a code on another device.")

    @OptionGroup var target: TargetOptions

    @Option(name: .customLong("login-hint"), help: "The account name to suggest on the sign-in page.")
    var loginHint: String?

    @Flag(name: .customLong("device-code"), help: "Print a code to enter on another device.")
    var usesDeviceCode = false

    @Flag(name: .customLong("browser"), help: "Use a browser, without falling back to a code.")
    var usesBrowser = false

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var account: AccountJSON
        var accessToken: String
        var expiresOn: Int64
        var scopes: [String]
    }

    func validate() throws {
        guard !usesDeviceCode || !usesBrowser else {
            throw ValidationError("Choose one of --browser and --device-code.")
        }
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        let method: SignInPresenter.Method = usesDeviceCode ? .deviceCode : usesBrowser ? .browser : .automatic
        let presenter = SignInPresenter(method: method)
        if method != .deviceCode, !presenter.browserCommands.isEmpty {
            Terminal.printError("Complete the sign-in in your browser…")
        }
        let result = try await agent.signIn(
            BeginInteractive(parameters: try target.parameters(), loginHint: loginHint), presenter: presenter)
        return Printout(
            account: AccountJSON(result.account), accessToken: result.accessToken.reveal(),
            expiresOn: result.expiresOn, scopes: result.scopes)
    }

    func describe(_ done: Printout) -> String? { "Signed in as \(done.account.line)" }
}

internal import AgentClient
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

/// Prints changes of accounts and of the store as they happen.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show changes as they happen: accounts, sign-outs, sign-ins that are due, the store.",
        discussion: """
            Each event is a line with the time, what has happened, and the account. The first one says that nothing has been \
            missed from then on; it is repeated after a restart of the agent, an unlock, an import, or if too much has happened at \
            once: anything may have changed then. With --json, each line is an object. Ctrl-C ends it, with exit status 0.

            Examples:
              ssoctl watch
              ssoctl watch --app graph             the accounts and events of one app
              ssoctl watch --json | jq -r 'select(.event=="signedOut").account.username'
            """)

    @OptionGroup(title: "App") var app: AppFilterOptions

    /// The argument of other commands for the app, which leads to the option of this command.
    @Argument(help: .hidden)
    var word: String?

    @Flag(
        help: ArgumentHelp(
            "Also show sign-ins that are due, sign-outs and problems of the store as notifications of the desktop, without names of accounts."
        ))
    var notify = false

    @Flag(help: "Print one JSON object for each event, on a line.")
    var json = false

    func validate() throws { try app.refuse(word, of: "watch") }

    func run() async throws {
        do {
            let filter = try AppFilter(app) { command(app: $0) }
            let request = WatchEvents(clientID: filter.clientID, sharingGroup: filter.sharingGroup)
            let outputHere = EventOutput(isJSON: json, notifies: notify, filter: filter)
            do {
                try await Interruption.cancelling {
                    ClosedOutput.endProcessWhenClosed()
                    var output = outputHere
                    output.isAtPublishedSocket = await AgentClient.shared.isAtPublishedSocket()
                    for try await event in AgentClient.shared.events(request) {
                        await output.show(event)
                        if StandardStream.outputFailure != nil { break }
                    }
                }
            } catch let error as TokenError where error.code == .requestDenied && filter.clientID == nil {
                let finder = AccountFinder(agent: .shared, sharingGroup: filter.sharingGroup)
                let app = await finder.listableApp(among: filter.appNames)
                throw CommandFailure(error, nextCommand: app.map { command(app: $0).text })
            }
            if Terminal.reportLostOutput() { throw ExitCode(ExitStatus.failed.rawValue) }
        } catch let failure as CommandFailure where failure.endingSignal != nil {
            // The user has interrupted the command.
        } catch let code as ExitCode {
            throw code
        } catch {
            let status = CommandFailure(caught: error).withRemedy.report(asJSON: json, onOneLine: true)
            throw ExitCode(status.rawValue)
        }
    }

    /// This command for an app with another name.
    private func command(app name: String) -> CommandLineWords {
        CommandLineWords("ssoctl", "watch") + app.words(name: name)
            + (notify ? ["--notify"] : [])
    }
}

/// The output of events: lines of text or JSON, and notifications.
private struct EventOutput: Sendable {
    let isJSON: Bool
    let notifies: Bool
    let filter: AppFilter
    /// Whether the commands that help have to be run elsewhere.
    var isAtPublishedSocket = false

    func show(_ event: AgentEvent) async {
        if isJSON {
            Terminal.print(Terminal.jsonLine(EventJSON(event, app: event.clientID.flatMap { filter.appNames[$0] })))
        } else {
            let line = await line(event)
            Terminal.print(StyledText(line + "\n"))
        }
        guard notifies, event.isForNotification else { return }
        // Without the account: other users can read the arguments of a program.
        let summary = UntrustedText.clean(what(event), limit: 256)
        _ = Program.output(of: ["notify-send", "--app-name=sso-agent", "--", summary])
    }

    private func line(_ event: AgentEvent) async -> String {
        let what = what(event)
        guard let account = account(of: event) else { return "\(Phrases.clock(event.time))  \(what)" }
        let columns = TerminalColumns.width(TerminalText.neutralised(what))
        let padding = String(repeating: " ", count: max(Self.width - columns, 0))
        let remedy = await event.kind == .interactionDue ? remedy(signIn(event)) : ""
        return "\(Phrases.clock(event.time))  \(what)\(padding)  \(account)\(remedy)"
    }

    private func account(of event: AgentEvent) -> String? {
        guard let account = event.account else { return nil }
        return UntrustedText.clean(account.username ?? account.homeAccountID?.text ?? "an account without a name")
    }

    private func what(_ event: AgentEvent) -> String {
        let app = event.clientID.map { filter.appNames[$0] ?? UntrustedText.clean($0.text, limit: 80) }
        switch event.kind {
        case .resynchronise: return "watching from now on"
        case .accountAdded: return "account added"
        case .accountChanged: return "account changed"
        case .accountRemoved: return "account removed"
        case .signedOut: return "signed out\(app.map { " of \($0)" } ?? "")"
        case .interactionDue: return "sign-in due\(app.map { " for \($0)" } ?? "")"
        case .storeChanged:
            switch event.storeState {
            case .open: return "store open"
            case .locked: return "store locked\(remedy("ssoctl unlock"))"
            case .unavailable: return "store cannot be opened  → ssoctl doctor"
            case .unwritable: return "store cannot be written  → ssoctl doctor"
            case nil: return "store changed"
            }
        }
    }

    /// The end of a line with a command that a published socket does not serve.
    private func remedy(_ command: String) -> String {
        isAtPublishedSocket ? "  (where the agent runs: \(command))" : "  → \(command)"
    }

    /// The command by which the user signs in.
    private func signIn(_ event: AgentEvent) async -> String {
        let hint = CommandLineWords.loginHint(event.account?.loginHint)
        let authority = await authority(of: event.account)
        return UntrustedText.clean((filter.signIn(event.clientID, at: authority) + hint).text)
    }

    private func authority(of account: Account?) async -> Authority? {
        guard let account, let own = Authority(of: account, localScheme: "https"), own.isLoopback else {
            return account.flatMap { Authority(of: $0, localScheme: "https") }
        }
        // Only the tokens tell whether a provider on this machine is reached without TLS.
        let tokens = try? await AccountTokens.read(AgentClient.shared, filter.sharingGroup, isRequired: false)
        return Authority(of: account, localScheme: tokens?.localScheme ?? "https")
    }

    /// The width of the column that says what has happened.
    private static let width = 20
}

extension AgentEvent {
    /// Whether the event is shown as a notification.
    fileprivate var isForNotification: Bool {
        switch kind {
        case .interactionDue, .signedOut, .accountRemoved: true
        case .storeChanged: storeState != .open
        default: false
        }
    }
}

/// An event as JSON. What does not apply is absent.
private struct EventJSON: Encodable {
    var event: String
    var time: Int64
    var account: AccountNamesJSON?
    var clientId: String?
    /// The app's name in the configuration.
    var app: String?
    var store: String?

    init(_ event: AgentEvent, app: String?) {
        self.event = event.kind.name
        self.app = app
        time = event.time
        account = event.account.map { AccountNamesJSON($0) }
        clientId = event.clientID?.text
        store = event.storeState?.name
    }
}

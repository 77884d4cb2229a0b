internal import AgentClient
internal import TokenModel

/// The exit status of a command. Scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case interactionRequired = 2
    case noSuchAccount = 3
    case agentUnavailable = 4
    case usage = 64

    init(_ error: TokenError) {
        self =
            switch error.code {
            case .interactionRequired, .ambiguousAccount: .interactionRequired
            case .accountNotFound: .noSuchAccount
            case .agentUnavailable, .peerNotAuthorized: .agentUnavailable
            default: .failed
            }
    }
}

/// The failure of a command: the error, the exit status, and the command that helps.
struct CommandFailure: Error {
    var error: TokenError
    var status: ExitStatus
    /// The command line to run next; nil if none is known to help.
    var nextCommand: String?
    /// The accounts among which the user has to choose.
    var candidates: [AccountReference] = []
    /// The signal that ended the command, with which the process ends too.
    var endingSignal: Int32?

    init(_ error: TokenError, status: ExitStatus? = nil, nextCommand: String? = nil) {
        self.error = error
        self.status = status ?? ExitStatus(error)
        self.nextCommand = nextCommand
    }

    /// The message, without the command of the error if that is the next command; the name of the code if an agent has sent no message.
    private var message: String {
        let message = nextCommand == error.details.nextCommand ? error.statement : error.message
        guard message.trimmedNonEmpty != nil else { return "\(error.code.name) (\(error.code.number))" }
        return RepeatedArguments.cut(in: message)
    }

    /// The failure for an error of `execute`.
    init(caught error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as TokenError: self.init(error)
        default: self.init(TokenError(.internalError, "\(error)"))
        }
    }

    /// Wrong usage that only the configuration and the environment reveal.
    static func usage(_ message: String, nextCommand: String? = nil) -> CommandFailure {
        CommandFailure(
            TokenError(.invalidDeveloperParameter, message), status: .usage, nextCommand: nextCommand)
    }

    /// Several accounts match: an interactive choice is needed.
    static func ambiguous(_ message: String, _ candidates: [Account], nextCommand: String?) -> CommandFailure {
        var failure = CommandFailure(
            TokenError(.ambiguousAccount, message), status: .interactionRequired, nextCommand: nextCommand)
        failure.candidates = candidates.map(\.reference)
        return failure
    }
}

extension CommandFailure: Encodable {
    /// A failure as JSON. What is not known is absent.
    private struct Body: Encodable {
        var code: Int32
        var name: String
        var message: String
        var reason: String?
        var throttledUntil: Int64?
        var oauthError: String?
        var subError: String?
        var errorDescription: String?
        var errorCodes: [Int32]?
        var correlationId: String?
        var declinedScopes: [String]?
        var account: AccountNamesJSON?
        var accounts: [AccountNamesJSON]?
        var nextCommand: String?
    }

    private enum CodingKeys: CodingKey { case error }

    func encode(to encoder: any Encoder) throws {
        let details = error.details
        let accounts = candidates.compactMap { AccountNamesJSON($0) }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(
            Body(
                code: error.code.number, name: error.code.name, message: message, reason: error.reason?.name,
                throttledUntil: details.throttledUntil, oauthError: details.oauthError,
                subError: details.subError, errorDescription: details.errorDescription,
                errorCodes: details.stsErrorCodes.isEmpty ? nil : details.stsErrorCodes,
                correlationId: details.correlationID?.description,
                declinedScopes: details.declinedScopes.isEmpty ? nil : details.declinedScopes,
                account: AccountNamesJSON(
                    AccountReference(homeAccountID: details.homeAccountID, username: details.username)),
                accounts: accounts.isEmpty ? nil : accounts, nextCommand: nextCommand), forKey: .error)
    }

    /// The lines for a user: what failed, the accounts to choose from, and the command that helps.
    var text: String {
        var lines = ["ssoctl: \(message)\(candidates.isEmpty ? "" : ":")"]
        let names = [error.details.oauthError].compactMap(\.self) + error.details.stsErrorCodes.map { "AADSTS\($0)" }
        let unmentioned = names.filter { !error.message.contains($0) }
        if let description = error.details.errorDescription, !error.message.contains(description) {
            lines.append("  the identity provider says: \(description)")
        } else if !unmentioned.isEmpty {
            lines.append("  the identity provider's error: \(unmentioned.joined(separator: ", "))")
        }
        if let end = error.details.throttledUntil, end > Terminal.now, error.reason == .throttled {
            lines.append("  not before \(Phrases.clock(end)), in \(Phrases.duration(end - Terminal.now))")
        }
        for candidate in candidates.prefix(Self.shownCandidates) {
            let names = [candidate.username, candidate.homeAccountID?.text].compactMap(\.self)
            lines.append("  " + UntrustedText.clean(names.joined(separator: "  ")))
        }
        if candidates.count > Self.shownCandidates {
            lines.append("  … and \(candidates.count - Self.shownCandidates) more")
        }
        if let nextCommand { lines.append(Problem.line(of: nextCommand)) }
        return lines.joinedLines
    }

    private static let shownCandidates = 20
}

/// The arguments of the command line that a message repeats.
enum RepeatedArguments {
    /// Cuts the arguments, and values of options, that are longer than any path, so that the message can be read.
    static func cut(in message: String) -> String {
        guard message.utf8.count > limit else { return message }
        let values = CommandLine.arguments.dropFirst().flatMap { argument in
            [argument] + argument.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
        }
        return values.filter { $0.utf8.count > limit }.reduce(message) { message, value in
            message.replacing(value, with: UntrustedText.clean(value, limit: limit) + "…")
        }
    }

    private static let limit = ValueLimits.text
}

extension TokenError {
    /// The error of a command that a published socket does not serve, and that would fail there for another reason.
    static let atPublishedSocket = TokenError(.requestDenied, ruleOfPublishedSockets)

    /// What to do about a problem of the store at a published socket: the end of a sentence.
    static let doctorElsewhere = "\(ruleOfPublishedSockets): ssoctl doctor"

    /// The error of a request that names no app: at a published socket, which refuses each of them, the one that says so.
    func orAtPublishedSocket(_ agent: AgentClient) async -> TokenError {
        guard code == .requestDenied, await agent.isAtPublishedSocket() else { return self }
        return .atPublishedSocket
    }
}

extension CommandFailure {
    /// The failure without a next command that a published socket would refuse; the message then says where to run it.
    func served(by agent: AgentClient) async -> CommandFailure {
        // A wrong command line needs no agent, and a signal ends the process at once.
        guard let nextCommand, status != .usage, endingSignal == nil,
            Self.refusedAtPublishedSockets.contains(where: { nextCommand.hasPrefix($0) }),
            await agent.isAtPublishedSocket()
        else { return self }
        var failure = self
        failure.error = TokenError(error.code, error.statement, details: error.details)
        failure.error.details.nextCommand = nil
        failure.error.append("; \(TokenError.atPublishedSocket.message): \(nextCommand)")
        failure.nextCommand = nil
        return failure
    }

    private static let refusedAtPublishedSockets = ["ssoctl sign-in", "ssoctl unlock"]
}

extension AgentClient {
    /// Whether the socket is a published one, which gives tokens only.
    func isAtPublishedSocket() async -> Bool { (try? await status().isOfPublishedSocket) ?? false }
}

extension AgentStatus {
    /// Whether it is that of a published socket, which answers without the number of the agent's process.
    var isOfPublishedSocket: Bool { processID == 0 }
}

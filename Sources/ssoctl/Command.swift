internal import AgentClient
internal import AgentConfiguration
internal import AgentSocket
internal import ArgumentParser
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A command: it sends requests to the agent, prints the result once, and ends with an exit status for scripts.
protocol Command: AsyncParsableCommand {
    associatedtype Printout: Encodable
    var output: OutputOptions { get }

    /// Sends the requests of the command.
    ///
    /// - Throws: `TokenError`, or `CommandFailure` if the command knows what the user can do.
    func execute(_ agent: AgentClient) async throws -> Printout
    /// The result as text for a user; nil prints nothing.
    func describe(_ printout: Printout) -> String?
    /// The result as text with colours; nil prints nothing.
    func style(_ printout: Printout) -> StyledText?
    /// The exit status of a command that has not failed.
    func status(of printout: Printout) -> ExitStatus
    /// Whether the command has written its result elsewhere.
    var isQuiet: Bool { get }
}

extension Command {
    func status(of printout: Printout) -> ExitStatus { .done }

    var isQuiet: Bool { false }

    func describe(_ printout: Printout) -> String? { nil }

    func style(_ printout: Printout) -> StyledText? { describe(printout).map { StyledText($0) } }

    func run() async throws {
        let status: ExitStatus
        do {
            let printout = try await execute(.shared)
            if isQuiet {
                // Nothing is left to print.
            } else if output.json {
                Terminal.print(json: printout)
            } else if let text = style(printout) {
                Terminal.print(text + "\n")
            }
            status = Terminal.reportLostOutput() ? .failed : self.status(of: printout)
        } catch {
            status = await CommandFailure(caught: error).withRemedy(.shared).report(asJSON: output.json)
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }
}

extension CommandFailure {
    /// Prints the failure, and returns the exit status. Ends the process if a signal has ended the command.
    ///
    /// - Parameter onOneLine: whether an object of JSON is on one line.
    func report(asJSON isJSON: Bool, onOneLine: Bool = false) -> ExitStatus {
        if isJSON {
            Terminal.print(onOneLine ? Terminal.jsonLine(self) : Terminal.json(self))
        } else {
            Terminal.printError(text)
        }
        if let endingSignal { Self.endProcess(by: endingSignal) }
        return status
    }

    /// Ends the process by a signal: a shell that runs a script ends it if the command has ended so, and only then.
    private static func endProcess(by number: Int32) {
        signal(number, SIG_DFL)
        // The threads of Swift's pool block all signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    /// The failure with the command that helps, if that depends on the kind of error only.
    func withRemedy(_ agent: AgentClient) async -> CommandFailure {
        // The message of an identity provider must not determine which command is suggested.
        guard nextCommand == nil, status != .usage, error.details.oauthError == nil else { return self }
        var failure = self
        let runtimeFolderProblem = AgentEnvironment.current.runtimeFolderProblem
        let advice = Advice(error.message)
        failure.error.message = advice.message
        failure.nextCommand = advice.command
        let isTrusted = Advice.isAgentTrusted
        let correction = isTrusted ? FailedWrite(error.message)?.command : nil
        // What has kept the agent from starting has the same remedy as if a command had found it, and the same status.
        let startProblem = isTrusted ? Self.startProblem(advice.message) : nil
        let place = startProblem.flatMap { ConfigurationPlace($0) }
        if place != nil { failure.status = .failed }
        switch error.code {
        case .agentUnavailable where runtimeFolderProblem != nil, .peerNotAuthorized where runtimeFolderProblem != nil:
            let problem = Advice(runtimeFolderProblem ?? "")
            failure.error.message = problem.message
            failure.nextCommand = problem.command
        case .agentUnavailable where advice.command == nil && startProblem?.contains("“ssoctl init” makes it") == true:
            failure.nextCommand = "ssoctl init"
        case .agentUnavailable where advice.command == nil && place != nil:
            failure.nextCommand = place?.editCommand
        case .storeUnavailable where correction != nil, .invalidDeveloperParameter where correction != nil:
            failure.nextCommand = correction
        // A message whose remedy is a reload says what to write first.
        case .invalidDeveloperParameter where advice.command == Self.reload:
            failure.nextCommand = "\(ConfigurationPlace.editCommand(ConfigurationFiles.current.user)) && \(Self.reload)"
        case .invalidDeveloperParameter where advice.command == nil && isTrusted:
            failure.nextCommand = ConfigurationPlace(error.message)?.editCommand
        case .storeUnavailable where advice.command == nil && !advice.namesCommand:
            let isOpen = (try? await agent.keyStatus().isOpen) ?? true
            failure.nextCommand = isOpen ? "ssoctl doctor" : "ssoctl unlock"
        // A command that knows the authority has named it.
        case _ where error.isForDoctor: failure.nextCommand = "ssoctl doctor"
        default: break
        }
        return failure
    }

    /// What the agent has said when a program could not start it; nil if the message is another one.
    private static func startProblem(_ message: String) -> String? {
        message.firstRange(of: "it could not be started: sso-agent: ").map { String(message[$0.upperBound...]) }
    }

    private static let reload = "ssoctl reload"
}

/// The output options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false
}

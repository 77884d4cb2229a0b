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

/// The work of a command, however its command line was read: it sends requests to the agent, prints the result once, and ends with an exit
/// status for scripts.
protocol CommandWork {
    associatedtype Printout: Encodable
    /// Whether the result is printed as JSON.
    var isJSON: Bool { get }

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
    /// Whether something is written to the terminal before the result: a question, also one of the agent, or what is waited for.
    var writesMeanwhile: Bool { get }
}

extension CommandWork {
    func status(of printout: Printout) -> ExitStatus { .done }

    var isQuiet: Bool { false }

    var writesMeanwhile: Bool { false }

    func describe(_ printout: Printout) -> String? { nil }

    func style(_ printout: Printout) -> StyledText? { describe(printout).map { StyledText($0) } }

    func run() async throws {
        let status: ExitStatus
        do {
            let printout = try await result(.shared)
            if isQuiet {
                // Nothing is left to print.
            } else if isJSON {
                Terminal.print(json: printout)
            } else if let text = style(printout) {
                Terminal.print(text + "\n")
            }
            status = Terminal.reportLostOutput() ? .failed : self.status(of: printout)
        } catch {
            status = await CommandFailure(caught: error).withRemedy.served(by: .shared).report(asJSON: isJSON)
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private func result(_ agent: AgentClient) async throws -> Printout {
        guard !writesMeanwhile else { return try await execute(agent) }
        return try await TickingLine.during { try await execute(agent) }
    }
}

/// A command whose line ArgumentParser reads.
protocol Command: AsyncParsableCommand, CommandWork {
    var output: OutputOptions { get }
}

extension Command {
    var isJSON: Bool { output.json }
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

    /// The failure with the command that helps: that of the error, or one that only depends on the kind of error.
    var withRemedy: CommandFailure {
        guard nextCommand == nil, status != .usage, error.details.oauthError == nil else { return self }
        var failure = self
        switch error.code {
        case .agentUnavailable, .peerNotAuthorized:
            if let problem = AgentEnvironment.current.runtimeFolderProblem {
                failure.error = TokenError(error.code, problem)
            } else if let command = error.details.nextCommand, command == Self.commandForConfiguration {
                // What has kept the agent from starting has the same status as if a command had found it.
                failure.status = .failed
            }
        // The message says what to write first.
        case .invalidDeveloperParameter where error.details.nextCommand == Self.reload:
            failure.error.message = error.statement
            let edit = ConfigurationFiles.editCommand(ConfigurationFiles.current.user)
            failure.error.details.nextCommand = "\(edit) && \(Self.reload)"
        default: break
        }
        failure.nextCommand = failure.error.details.nextCommand ?? (error.isForDoctor ? "ssoctl doctor" : nil)
        return failure
    }

    /// The command that helps if the configuration cannot be used; nil if it can.
    private static var commandForConfiguration: String? {
        do throws(CommandFailure) {
            try Settings.read().requireUsable()
            return nil
        } catch {
            return error.nextCommand ?? error.error.details.nextCommand
        }
    }

    private static let reload = "ssoctl reload"
}

/// The output options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false
}

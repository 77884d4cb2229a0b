internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// A command: it sends requests to the agent, prints the result once, and ends with an exit status for scripts.
protocol Command: AsyncParsableCommand {
    associatedtype Printout: Encodable
    var output: OutputOptions { get }

    /// Sends the requests of the command.
    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout
    /// The result as text for a user; nil prints nothing.
    func describe(_ printout: Printout) -> String?
    /// The exit status of a command that has not failed.
    func status(of printout: Printout) -> ExitStatus
}

extension Command {
    func status(of printout: Printout) -> ExitStatus { .done }

    func run() async throws {
        let status = await perform()
        if status != .done { throw ExitCode(status.rawValue) }
    }

    private func perform() async -> ExitStatus {
        do throws(TokenError) {
            let printout = try await execute(.shared)
            if output.json {
                Terminal.print(json: printout)
            } else if let text = describe(printout) {
                Terminal.print(text)
            }
            return status(of: printout)
        } catch {
            if output.json {
                Terminal.print(json: Failure(error))
            } else {
                Terminal.printError("ssoctl: \(error.message)")
            }
            return ExitStatus(error)
        }
    }
}

/// The output options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false
}

/// The exit status of a command. Scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    case interactionRequired = 2
    case noSuchAccount = 3
    case agentUnavailable = 4

    init(_ error: TokenError) {
        self =
            switch error.code {
            case .interactionRequired: .interactionRequired
            case .accountNotFound: .noSuchAccount
            case .agentUnavailable, .peerNotAuthorized: .agentUnavailable
            default: .failed
            }
    }
}

/// An error as JSON.
struct Failure: Encodable {
    struct Body: Encodable {
        var code: Int32
        var name: String
        var message: String
    }

    var error: Body

    init(_ error: TokenError) {
        self.error = Body(code: error.code.number, name: error.code.name, message: error.message)
    }
}

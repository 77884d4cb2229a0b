internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// What every command has in common: it asks the agent, prints once, and ends with a status that a script can read.
protocol Command: AsyncParsableCommand {
    associatedtype Printout: Encodable
    var output: OutputOptions { get }

    /// Asks the agent.
    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout
    /// The same for people; nil prints nothing.
    func describe(_ printout: Printout) -> String?
    /// The exit status of a command that did what it was asked.
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

/// How to print; the same for every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document.")
    var json = false
}

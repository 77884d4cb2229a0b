internal import AgentClient
internal import ArgumentParser
internal import AuditLog
internal import PosixFiles
internal import TokenModel

/// Shows the agent's audit log, and checks that no line is missing or changed.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Show the tokens, sign-ins, exports and refusals that the agent has recorded, and check the record.",
        discussion: """
            Each line has the hash of the line before it. A line that is missing, added or changed is reported on standard \
            error, and the exit status is then 1. Whoever may write to the store's folder can replace the whole log, or \
            remove its end; the journal ([audit] destination = "journal") is out of the user's reach. With --json, prints the \
            lines as they are, each a JSON object. Ctrl-C ends --follow, with exit status 0 if every line so far is in order.

            Examples:
              ssoctl audit
              ssoctl audit --follow
              ssoctl audit --json | jq 'select(.event == "refusal")'
            """)

    @Flag(help: "Wait for further lines.")
    var follow = false

    @Option(help: "The file; by default that of the running agent.", completion: .file())
    var file: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let file, file.isEmpty { throw ValidationError("--file must not be blank.") }
    }

    func run() async throws {
        let status: ExitStatus
        do {
            let log = LogOutput(path: try await path(), follows: follow, isJSON: output.json)
            let isWhole =
                if follow {
                    try await Interruption.cancelling { try await log.print() }
                } else {
                    try await log.print()
                }
            status = Terminal.reportLostOutput() || !isWhole ? .failed : .done
        } catch let failure as CommandFailure where failure.endingSignal != nil {
            // The file could not be read when the user interrupted the command.
            status = .failed
        } catch {
            var failure = CommandFailure(caught: error)
            // A file that was named is all that can be wrong then.
            if file != nil { failure.nextCommand = "ssoctl audit\(follow ? " --follow" : "")" }
            status = failure.withRemedy.report(asJSON: output.json, onOneLine: true)
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    /// The file of the log.
    private func path() async throws(TokenError) -> String {
        if let file { return file }
        let status = try await AgentClient.shared.status()
        guard status.processID != 0 else { throw .atPublishedSocket }
        return "\(status.stateDirectory)/\(AuditWriter.fileName)"
    }
}

/// The output of a log.
private struct LogOutput: Sendable {
    let path: String
    let follows: Bool
    let isJSON: Bool

    /// Prints the log; returns whether no line is missing or changed. If it follows the log, cancelling the task ends it.
    func print() async throws(TokenError) -> Bool {
        var reader = try AuditReader(path: path)
        var (isWhole, hasWaited) = (true, false)
        if follows { ClosedOutput.endProcessWhenClosed() }
        while StandardStream.outputFailure == nil, !Task.isCancelled {
            switch try reader.next() {
            case .line(let text, let line)?: Terminal.print(isJSON ? text : line.summary)
            case .finding(let finding)?:
                isWhole = false
                Terminal.printError("ssoctl: \(path): \(finding)")
            // A last line that is not complete may be being written.
            case nil where follows || reader.endsWithinLine && !hasWaited:
                hasWaited = true
                // Polled, as `tail` does: the file may be replaced, or be on a file system that reports no changes.
                try? await Task.sleep(for: .milliseconds(300))
            case nil:
                guard reader.endsWithinLine else { return isWhole }
                Terminal.printError("ssoctl: \(path): the last line is not complete")
                return false
            }
        }
        return isWhole
    }
}

extension AuditLine {
    /// The line as text for a user.
    fileprivate var summary: String {
        let peer = self["app"] ?? self["unit"] ?? self["executable"]
        let process = self["pid"].map { "(process \($0))" }
        let count = self["count"].map { "×\($0)" }
        let words = [
            self["time"], self["event"], self["outcome"], count, self["socket"].map { "[\($0)]" }, peer, process,
            self["client_id"],
            scopes.joined(separator: " ").trimmedNonEmpty, self["account"].map { "account \($0.prefix(8))" },
            self["username"],
        ]
        return words.compactMap(\.self).map { UntrustedText.clean($0, limit: .max) }.joined(separator: " ")
    }
}

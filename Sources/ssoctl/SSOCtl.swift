internal import AgentSocket
internal import ArgumentParser
internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

@main
private enum Main {
    static func main() {
        CallingThread.run { await SSOCtl.run(Array(CommandLine.arguments.dropFirst())) }
    }
}

/// The command line of the agent. Each command is in a file of `Commands`.
struct SSOCtl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssoctl",
        abstract: "Sign in to Microsoft Entra, see who is signed in, and get tokens, through sso-agent.",
        discussion: """
            Every command prints text or, with --json, one JSON document, “watch” and “audit” one for each line; progress and prompts \
            go to standard error. Exit status: 0 done, 1 failed, 2 interaction required, 3 no such account, 4 the agent \
            cannot be reached, 64 usage.

            Environment: SSO_AGENT_APP and SSO_AGENT_ACCOUNT replace the defaults of “ssoctl use”, BROWSER names the browser for \
            sign-in, NO_COLOR disables colours, SSO_AGENT_SOCK names the agent's socket, SSO_AGENT_OWNER the ID of another user who \
            has published it, and SSO_AGENT_CONFIG the configuration. With SSO_AGENT_START=0, no command starts the agent.

            Examples:
              ssoctl init                          step by step; or without questions:
              ssoctl app add graph --client-id CLIENT-ID --scope User.Read
              ssoctl sign-in
              ssoctl token
            """,
        version: ProductVersion.text,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "Sign-in and tokens",
                subcommands: [
                    InitCommand.self, SignInCommand.self, TokenCommand.self, SignOutCommand.self, AccountsCommand.self,
                ]),
            CommandGroup(name: "Apps and defaults", subcommands: [AppCommand.self, UseCommand.self]),
            CommandGroup(
                name: "The agent",
                subcommands: [
                    StatusCommand.self, WatchCommand.self, DoctorCommand.self, AuditCommand.self, LockCommand.self,
                    UnlockCommand.self, KeyCommand.self, ReloadCommand.self,
                ]),
            CommandGroup(
                name: "Caches and sockets",
                subcommands: [
                    ImportCommand.self, ExportCommand.self, PublishCommand.self, SocketsCommand.self,
                    UnpublishCommand.self,
                ]),
        ])

    fileprivate static func run(_ arguments: [String]) async {
        agent_hold_standard_streams()
        agent_reset_signals()
        agent_use_one_heap()
        // This process handles passphrases and exported caches. If the system refuses, the agent has reported that.
        _ = agent_forbid_inspection()
        CompletionRun.prepare(arguments)
        let arguments = withJSONAfterCommand(arguments)
        do {
            if let problem = ProgramArguments.problem ?? AgentEnvironment.problem { throw ValidationError(problem) }
            if arguments.first == "token", let token = TokenWork(plain: arguments.dropFirst()) {
                return try await token.run()
            }
            if let unknown = CommandPath(arguments, configuration).unknown { throw unknown }
            var command: any ParsableCommand
            if let parsed = await parsedAlone(arguments) {
                command = parsed
            } else {
                command = try await asyncParseAsRoot(arguments)
            }
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            end(error, arguments.prefix { $0 != "--" })
        }
    }

    /// The arguments with `--json`, which every command has, behind the command if it is before it.
    private static func withJSONAfterCommand(_ arguments: [String]) -> [String] {
        guard arguments.count > 1, arguments.first == "--json" else { return arguments }
        let (options, words) = (arguments.dropFirst().prefix { $0 != "--" }, arguments.drop { $0 != "--" })
        return options + ["--json"] + words
    }

    /// The command of the arguments, parsed without the other commands, all of which the whole parser would look at first: that takes
    /// longer than most commands. Nil if the arguments ask for help or are not valid; then the whole parser says so.
    private static func parsedAlone(_ arguments: [String]) async -> (any ParsableCommand)? {
        guard let word = arguments.first,
            let type = commandTypes.first(where: { $0.configuration.isNamed(word) }) as? any AsyncParsableCommand.Type,
            type.configuration.subcommands.isEmpty
        else { return nil }
        return try? await type.asyncParse(Array(arguments.dropFirst()))
    }

    /// Ends the process after an error of the command or the command line, or a request for help, whose text may have parts of the
    /// arguments.
    private static func end(_ error: any Error, _ arguments: ArraySlice<String>) {
        StandardStream.widenHelp()
        let status = exitCode(for: error)
        let path = CommandPath(Array(arguments), configuration)
        var text = fullMessage(for: error)
        var problem = message(for: error)
        if let unknown = path.unknown {
            text = "Error: \(unknown.message)\n\(Problem.line(of: path.next))"
        } else if status == .validationFailure, !text.isEmpty, ProgramArguments.problem == nil,
            let option = path.unknownOption(in: arguments)
        {
            problem = option
            text = "Error: \(option)" + (text.firstRange(of: "\nUsage: ").map { String(text[$0.lowerBound...]) } ?? "")
        }
        if !status.isSuccess { text = RepeatedArguments.cut(in: text) }
        let option = "--generate-completion-script"
        if status.isSuccess, arguments.first == option || arguments.first?.hasPrefix(option + "=") == true {
            text = CompletionScript.extended(text, CommandNames(of: configuration))
        }
        if arguments.contains("--json"), !text.isEmpty, !status.isSuccess {
            let failure = CommandFailure.usage(problem, nextCommand: path.next)
            // These commands print a document for each line.
            let isOnOneLine = ["audit", "watch"].contains(arguments.first)
            Terminal.print(isOnOneLine ? Terminal.jsonLine(failure) : Terminal.json(failure))
        } else if status.isSuccess, !text.isEmpty {
            Terminal.print(withBrokenUsage(text) + "\n")
        } else if !text.isEmpty {
            Terminal.printError(text)
        }
        if status.isSuccess, Terminal.reportLostOutput() { exit(withError: ExitCode(ExitStatus.failed.rawValue)) }
        exit(withError: status)
    }

    /// The text of `--help`, of which ArgumentParser has broken every line but that of the usage. Any other text stays as it is.
    private static func withBrokenUsage(_ text: String) -> StyledText {
        guard let heading = text.firstRange(of: "\nUSAGE: ") else { return StyledText(text).fixed }
        let usage = text[text.index(after: heading.lowerBound)...].prefix { $0 != "\n" }
        return StyledText(String(text[..<usage.startIndex])).fixed + StyledText(String(usage))
            + StyledText(String(text[usage.endIndex...])).fixed
    }

    private static var commandTypes: [any ParsableCommand.Type] {
        configuration.groupedSubcommands.flatMap(\.subcommands)
    }
}

/// The command that a command line names.
private struct CommandPath {
    /// The names of the command, without that of the program.
    private var words: [String] = []
    private var type: any ParsableCommand.Type = SSOCtl.self
    /// The command line with the word that was probably meant, in place of one that is no command; nil if nothing is similar.
    private var corrected: String?
    /// The error if a word is no command where one has to be, with the one that was probably meant.
    private(set) var unknown: ValidationError?

    init(_ arguments: [String], _ root: CommandConfiguration) {
        var command = root
        // What follows `help` is the name of a command.
        let named = arguments.drop { $0 == "help" }
        for (index, word) in zip(named.indices, named) {
            guard !word.hasPrefix("-"), !command.subcommands.isEmpty else { return }
            let configurations = command.subcommands.map { $0.configuration }
            guard let next = command.subcommands.first(where: { $0.configuration.isNamed(word) }) else {
                let names = (words.isEmpty ? ["help"] : []) + configurations.compactMap(\.commandName)
                let nearest = Suggestion.nearest(to: word, among: names + configurations.flatMap(\.aliases))
                let meant = nearest.map { " Did you mean “\($0)”?" } ?? ""
                corrected = nearest.map { nearest in
                    var arguments = arguments
                    arguments[index] = nearest
                    return CommandLineWords(["ssoctl"] + arguments.filter { $0 != "--json" }).text
                }
                unknown = ValidationError(
                    "“\(word)” is not a command of \((["ssoctl"] + words).joined(separator: " ")).\(meant)")
                return
            }
            words.append(word)
            type = next
            command = next.configuration
        }
    }

    /// What is wrong if an option is none of the command's, with the one that was probably meant. ArgumentParser takes the value of such an
    /// option for an argument, and complains about that first.
    func unknownOption(in arguments: some Sequence<String>) -> String? {
        let types = [type] + [type.configuration.defaultSubcommand].compactMap { $0 }
        let names = types.flatMap(Self.optionNames(of:))
        let known = Set(names + ["generate-completion-script", "help-hidden", "experimental-dump-help"])
        let options = arguments.filter { $0.hasPrefix("--") }.map { $0.dropFirst(2).prefix { $0 != "=" } }
        guard let option = options.map(String.init).first(where: { !known.contains($0) }) else { return nil }
        let meant = Suggestion.nearest(to: option, among: names) ?? names.first { option.hasPrefix("\($0)-") }
        return "Unknown option '--\(option)'" + (meant.map { ". Did you mean '--\($0)'?" } ?? "")
    }

    /// The names of a command's options, as its help has them: `  -s, --scope <scope>     A permission`.
    private static func optionNames(of type: any ParsableCommand.Type) -> [String] {
        let lines = SSOCtl.helpMessage(for: type, includeHidden: true, columns: 200).split(separator: "\n")
        return lines.filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split { " ,".contains($0) }.prefix(2).filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        }
    }

    /// The command to run next: the one that was probably meant, else the help.
    var next: String { corrected ?? help }

    /// The command that prints the help for it.
    private var help: String { (["ssoctl"] + words + ["--help"]).joined(separator: " ") }
}

extension CommandConfiguration {
    fileprivate func isNamed(_ word: String) -> Bool { commandName == word || aliases.contains(word) }
}

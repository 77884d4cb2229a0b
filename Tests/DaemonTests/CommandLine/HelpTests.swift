internal import Foundation
internal import TestSupport
internal import Testing

/// What `--help` says, from which the manual pages are made too.
@Suite(.bounded) struct HelpTests {
    /// A command, as the argument parser describes it.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { var name: String }
            var names: [Name]?
            var kind: String
        }

        var commandName: String
        var aliases: [String]?
        var abstract: String?
        var discussion: String?
        var arguments: [Argument]?
        var subcommands: [Command]?
        var superCommands: [String]?

        /// The commands that do something.
        var leaves: [Command] {
            guard let subcommands, !subcommands.isEmpty else { return [self] }
            return subcommands.flatMap(\.leaves)
        }

        /// The lines of the examples, as they are printed.
        var indentedExamples: [Substring] {
            guard let examples = discussion?.components(separatedBy: "Examples:\n").dropFirst().last else { return [] }
            return examples.split(separator: "\n")
        }

        /// The lines of the examples.
        var examples: [Substring] { indentedExamples.map { $0.drop { $0 == " " } } }

        func named(_ word: Substring) -> Command? {
            subcommands?.first { $0.commandName == word || $0.aliases?.contains(String(word)) == true }
        }
    }

    private struct Dump: Decodable { var command: Command }

    private static func command(_ program: String) async throws -> Command {
        let ended = try await TestProcess(program, ["--experimental-dump-help"]).finish()
        #expect(ended.status == 0, "\(ended)")
        return try JSONDecoder().decode(Dump.self, from: Data(ended.output.utf8)).command
    }

    @Test(arguments: ["ssoctl", "sso-agent", "entra-emulator"])
    func hasExamplesOfEachCommand(program: String) async throws {
        let root = try await Self.command(program)
        for command in root.leaves where command.commandName != "help" {
            let path = (command.superCommands ?? []) + [command.commandName]
            #expect(!command.examples.isEmpty, "\(path.joined(separator: " ")) has no examples")
            #expect(command.abstract?.isEmpty == false, "\(path)")
            // Behind the five blanks of a manual page, a longer line is broken, and what is broken does not run when it is typed.
            for line in command.examples { #expect(line.count <= 75, "\(path): \(line)") }
            // A manual page shows each line as one of a command.
            for line in command.indentedExamples { #expect(line.hasPrefix("  "), "\(path): \(line)") }
        }
        for line in root.examples { #expect(line.count <= 75, "\(line)") }
    }

    /// The names of the options leave no room for their descriptions there.
    @Test(arguments: ["ssoctl", "sso-agent", "entra-emulator"], ["26", "1", "-1"])
    func describesTheOptionsOnAVeryNarrowTerminal(program: String, columns: String) async throws {
        let environment = ProcessInfo.processInfo.environment.merging(["COLUMNS": columns]) { $1 }
        let ended = try await TestProcess(program, ["--help"], environment: environment).finish()
        #expect(ended.status == 0 && ended.errors.isEmpty, "\(ended)")
        #expect(ended.output.contains("information.\n"), "\(ended)")
    }

    /// The command that adds an app has the option of commands that take the value from an app.
    @Test(arguments: [["app", "add"], ["token"], ["sign-in"], ["doctor"]])
    func saysOfTheAuthorityWhatHoldsForEachCommand(command: [String]) async throws {
        let ended = try await TestProcess("ssoctl", command + ["--help"]).finish()
        let text = ended.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("Without it, the app's is used; an app without one uses the account's"), "\(text)")
    }

    /// Every example is a command line that exists: its commands, its options.
    @Test func givesExamplesThatExist() async throws {
        let root = try await Self.command("ssoctl")
        for line in ([root] + root.leaves).flatMap(\.examples) {
            // What is behind several blanks is a comment.
            let line = line.components(separatedBy: "   ")[0]
            let words = line.split(separator: "|").map { $0.split(separator: " ") }.first { $0.first == "ssoctl" }
            guard let words else { continue }
            var command = root
            for word in words.dropFirst() {
                guard let next = command.named(word) else { break }
                command = next
            }
            #expect(command.commandName != "ssoctl", "\(line): there is no such command")
            // A default subcommand takes the options of its group.
            let places = [command] + (command.subcommands ?? [])
            let known = Set(places.flatMap { $0.arguments ?? [] }.flatMap { $0.names ?? [] }.map(\.name))
            for word in words where word.hasPrefix("-") {
                let name = String(word.drop { $0 == "-" })
                #expect(known.contains(name), "\(line): there is no \(word)")
            }
        }
    }
}

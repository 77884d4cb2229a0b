/// A problem as errors and checks describe it to a user: a statement, and the command that helps if there is one.
///
/// The command is a value of its own, so that a program shows or offers it without looking for it in the text. As one
/// text, for a log or an app that shows only a message, the command is at the end.
package struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, without the command.
    package let statement: String
    /// The command that helps; nil if none is known to.
    package let remedy: Remedy?

    package init(_ statement: String, _ remedy: Remedy? = nil) {
        (self.statement, self.remedy) = (statement, remedy)
    }

    /// What is wrong and the command, as one text.
    package var description: String { statement + (remedy?.ending ?? "") }

    /// The same problem as the end of a longer sentence.
    package func after(_ beginning: String) -> Problem { Problem(beginning + statement, remedy) }
}

/// The command line that helps, and the words before it in a text.
package struct Remedy: Sendable, Equatable {
    package let command: String
    private let lead: Lead

    /// The words between what is wrong and the command.
    fileprivate enum Lead: String, CaseIterable {
        case run = "; run: "
        case purpose = ", run: "
        case and = ", and run: "
        case then = ", then run: "
        case or = ", or run: "
        case see = "; see: "
        case start = "; start it with: "
        case otherwiseStart = "; otherwise start it with: "
    }

    /// “…; run: COMMAND”.
    package static func run(_ command: String) -> Remedy { Remedy(command: command, lead: .run) }
    /// “…, run: COMMAND”, after a statement that ends with the purpose of the command.
    package static func purpose(_ command: String) -> Remedy { Remedy(command: command, lead: .purpose) }
    /// “…, and run: COMMAND”, after a statement that ends with a first step.
    package static func and(_ command: String) -> Remedy { Remedy(command: command, lead: .and) }
    /// “…, then run: COMMAND”, after a statement that ends with a first step.
    package static func then(_ command: String) -> Remedy { Remedy(command: command, lead: .then) }
    /// “…, or run: COMMAND”, after a statement that ends with another remedy.
    package static func or(_ command: String) -> Remedy { Remedy(command: command, lead: .or) }
    /// “…; see: COMMAND”, for a command that shows what to choose from.
    package static func see(_ command: String) -> Remedy { Remedy(command: command, lead: .see) }
    /// “…; start it with: COMMAND”, for the agent.
    package static func start(_ command: String) -> Remedy { Remedy(command: command, lead: .start) }
    /// “…; otherwise start it with: COMMAND”, after a statement that ends with another remedy.
    package static func otherwiseStart(_ command: String) -> Remedy { Remedy(command: command, lead: .otherwiseStart) }

    fileprivate var ending: String { lead.rawValue + command }
}

extension TokenError {
    /// Creates an error from what is wrong and the command that helps, with which the message ends.
    package init(_ code: Code, _ problem: Problem, reason: Reason? = nil) {
        self.init(code, problem.description)
        (details.nextCommand, details.reason) = (problem.remedy?.command, reason)
    }

    /// Creates an error with the command that helps, with which the message ends.
    package init(_ code: Code, _ statement: String, _ remedy: Remedy?, reason: Reason? = nil) {
        self.init(code, Problem(statement, remedy), reason: reason)
    }

    /// The same error with a command that the message does not have, if no other is known.
    package func suggesting(_ command: String?) -> TokenError {
        guard details.nextCommand == nil else { return self }
        var error = self
        error.details.nextCommand = command
        return error
    }

    /// The message without the command at its end, for a program that shows `details.nextCommand` on a line of its own.
    public var statement: String { String(message.dropLast(ending.count)) }

    /// The message as what is wrong and the command that helps.
    package var problem: Problem { Problem(statement, details.nextCommand.map { .run($0) }) }

    /// Whether the message says what helps in words only, or has the command at its end.
    package var namesRemedy: Bool { details.saysRemedyInWords || !ending.isEmpty }

    /// Adds to what is wrong. A command stays at the end of the message.
    package mutating func append(_ text: String) { message = statement + text + ending }

    /// The end of the message that has the command; empty if the message has none, as one of an older agent.
    private var ending: Substring {
        guard let command = details.nextCommand, !command.isEmpty, message.hasSuffix(command) else { return "" }
        let text = message.dropLast(command.count)
        guard let lead = Remedy.Lead.allCases.first(where: { text.hasSuffix($0.rawValue) }) else { return "" }
        return message.suffix(lead.rawValue.count + command.count)
    }
}

extension Problem {
    /// The line of a command below what a program prints of a failure.
    package static func line(of command: String) -> String { mark + command }

    /// What a program prints of the problem: what is wrong, and below it the command.
    package func printed(by program: String) -> String {
        "\(program): \(statement)" + (remedy.map { "\n" + Self.line(of: $0.command) } ?? "")
    }

    /// Reads what `printed(by:)` has returned, together with the name of the program.
    package init(printed text: String) {
        let lines = text.split(separator: "\n")
        let command = lines.last { $0.hasPrefix(Self.mark) }?.dropFirst(Self.mark.count)
        statement = lines.filter { !$0.hasPrefix(Self.mark) }.joined(separator: "\n")
        remedy = command.map { .run(String($0)) }
    }

    private static let mark = "  → "
}

internal import TokenModel

/// A command line as a person types it in a shell.
struct CommandLineWords: Sendable, Equatable {
    private var words: [String]

    init(_ words: [String]) { self.words = words }

    /// Creates a command line of these words.
    init(_ words: String...) { self.words = words }

    static func + (left: CommandLineWords, right: [String]) -> CommandLineWords {
        CommandLineWords(left.words + right)
    }

    /// The words of an option with a name that an identity provider has chosen, and that may look like an option as well.
    static func option(_ option: String, _ name: String) -> [String] {
        name.hasPrefix("-") ? ["\(option)=\(name)"] : [option, name]
    }

    /// The words of a sign-in that suggest an account; none without a name.
    static func loginHint(_ name: String?) -> [String] { name.map { option("--login-hint", $0) } ?? [] }

    /// A command with such a name, and with options.
    static func command(_ command: String, _ name: String, _ options: [String] = []) -> CommandLineWords {
        CommandLineWords(
            ["ssoctl", command] + (name.hasPrefix("-") ? options + ["--", name] : [name] + options))
    }

    /// The words with quotation marks where a shell needs them.
    var text: String { words.map(\.shellWord).joined(separator: " ") }
}

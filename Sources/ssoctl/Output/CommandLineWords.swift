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

    /// The words with quotation marks where a shell needs them.
    var text: String { words.map(\.shellWord).joined(separator: " ") }
}

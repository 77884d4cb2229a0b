/// A command line as a person types it in a shell.
struct CommandLineWords: Sendable, Equatable {
    private var words: [String]

    init(_ words: [String]) { self.words = words }

    static func + (left: CommandLineWords, right: [String]) -> CommandLineWords {
        CommandLineWords(left.words + right)
    }

    /// The words with quotation marks where a shell needs them.
    var text: String { words.map(Self.quoted).joined(separator: " ") }

    static func quoted(_ word: String) -> String {
        let isPlain = !word.isEmpty && word.utf8.allSatisfy(isPlain)
        return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_./:@%+=,".utf8.contains(byte)
        }
    }
}

/// A command line as a person types it in a shell.
package struct CommandLineWords: Sendable, Equatable {
    private var words: [String]

    package init(_ words: [String]) { self.words = words }

    /// Creates a command line of these words.
    package init(_ words: String...) { self.words = words }

    package static func + (left: CommandLineWords, right: [String]) -> CommandLineWords {
        CommandLineWords(left.words + right)
    }

    /// The words of an option with a name that an identity provider or a user has chosen, and that may look like an option as well; none
    /// without a name.
    package static func option(_ option: String, _ name: String?) -> [String] {
        guard let name else { return [] }
        return name.hasPrefix("-") ? ["\(option)=\(name)"] : [option, name]
    }

    /// The words of the option for a sharing group; none for the standard group.
    package static func group(_ group: SharingGroup) -> [String] {
        group == .standard ? [] : option("--group", group.name)
    }

    /// The words of a sign-in that suggest an account; none without a name.
    package static func loginHint(_ name: String?) -> [String] { option("--login-hint", name) }

    /// A command with such a name, and with options.
    package static func command(_ command: String, _ name: String, _ options: [String] = []) -> CommandLineWords {
        CommandLineWords(
            ["ssoctl", command] + (name.hasPrefix("-") ? options + ["--", name] : [name] + options))
    }

    /// The command that lists the accounts of a sharing group.
    package static func accounts(of group: SharingGroup) -> CommandLineWords {
        CommandLineWords(["ssoctl", "accounts"] + Self.group(group))
    }

    /// The words with quotation marks where a shell needs them.
    package var text: String { words.map(\.shellWord).joined(separator: " ") }
}

extension String {
    /// The text as one word of a shell's command line, with quotation marks where a shell needs them.
    package var shellWord: String {
        let isPlain = !isEmpty && utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_./:@%+=,".utf8.contains($0) }
        // By scalars: an apostrophe forms one `Character` with a combining character behind it.
        return isPlain ? self : "'\(unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined())'"
    }
}

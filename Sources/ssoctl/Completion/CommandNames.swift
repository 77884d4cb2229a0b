internal import ArgumentParser

/// The names of commands that the argument parser's scripts do not complete: what an alias stands for, and what can follow `help`.
struct CommandNames {
    /// An alias of a command.
    struct Alias {
        /// The names of the commands above it, and the alias.
        let words: String
        /// The number of these words, and so the alias's place on the command line behind the program's name.
        let index: Int
        let name: String
    }

    /// What can follow some words that begin with `help`.
    struct HelpTopic {
        let words: String
        let names: [String]
    }

    /// The aliases; those of a command come before those of its subcommands.
    private(set) var aliases: [Alias] = []
    private(set) var helpTopics: [HelpTopic] = []

    /// - Parameter root: the configuration of the program's command.
    init(of root: CommandConfiguration) { add(root, []) }

    private mutating func add(_ command: CommandConfiguration, _ path: [String]) {
        let configurations = command.subcommands.map { $0.configuration }
        guard !configurations.isEmpty else { return }
        let names = configurations.compactMap(\.commandName)
        helpTopics.append(HelpTopic(words: (["help"] + path).joined(separator: " "), names: names))
        for subcommand in configurations {
            guard let name = subcommand.commandName else { continue }
            for alias in subcommand.aliases {
                let words = (path + [alias]).joined(separator: " ")
                aliases.append(Alias(words: words, index: path.count + 1, name: name))
            }
        }
        for subcommand in configurations { add(subcommand, path + [subcommand.commandName].compactMap(\.self)) }
    }
}

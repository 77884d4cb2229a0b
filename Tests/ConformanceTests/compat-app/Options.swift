/// The options of the command line: the app and its steps.
struct Options: Sendable {
    enum Library: String, Sendable {
        case msal, adal
    }

    /// A step, which prints one line.
    enum Step: Sendable {
        case signIn(String)
        /// By identifier or by name.
        case silent(String)
        case accounts
        case remove(String)
    }

    static let usage = """
        usage: compat-app msal|adal --client-id ID --authority URL [--scope S] STEP …
        steps: sign-in NAME, silent NAME-OR-IDENTIFIER, accounts, remove NAME-OR-IDENTIFIER

        """

    let library: Library
    private(set) var clientID = ""
    private(set) var authority = ""
    private(set) var scope = "User.Read"
    private(set) var steps: [Step] = []

    /// Returns nil for an unknown argument.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        guard let library = words.next().flatMap(Library.init) else { return nil }
        self.library = library
        while let word = words.next() {
            if word == "accounts" {
                steps.append(.accounts)
            } else {
                guard let value = words.next(), take(word, value) else { return nil }
            }
        }
    }

    private mutating func take(_ word: String, _ value: String) -> Bool {
        switch word {
        case "--client-id": clientID = value
        case "--authority": authority = value
        case "--scope": scope = value
        case "sign-in": steps.append(.signIn(value))
        case "silent": steps.append(.silent(value))
        case "remove": steps.append(.remove(value))
        default: return false
        }
        return true
    }
}

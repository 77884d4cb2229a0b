/// The options of the command line.
struct Options: Sendable {
    /// The task of the program.
    enum Action: Sendable {
        /// Acquires a token silently, or by a sign-in if one is required.
        case acquireToken
        case acquireTokenSilently
        case signIn, list, signOut
    }

    static let usage = """
        usage: modern-notes --client-id ID [--authority URL] [--scope S …] [--username U | --identifier ID]
                            [--sign-in | --silent | --list | --sign-out]

        """

    /// The ID of the app's registration, which every app has its own of.
    var clientID = ""
    var authority = "https://login.microsoftonline.com/common"
    var scopes: [String] = []
    var username: String?
    var identifier: String?
    var action = Action.acquireToken

    /// Parses the command line; returns nil for an unknown option, one without its value, or if there is no client ID.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            switch word {
            case "--sign-in": action = .signIn
            case "--silent": action = .acquireTokenSilently
            case "--list": action = .list
            case "--sign-out": action = .signOut
            default:
                guard let value = words.next(), set(word, to: value) else { return nil }
            }
        }
        guard !clientID.isEmpty else { return nil }
        if scopes.isEmpty { scopes = ["Notes.ReadWrite"] }
    }

    /// Sets the option `name`; returns false if there is none of that name.
    private mutating func set(_ name: String, to value: String) -> Bool {
        switch name {
        case "--client-id": clientID = value
        case "--authority": authority = value
        case "--scope": scopes.append(value)
        case "--username": username = value
        case "--identifier": identifier = value
        default: return false
        }
        return true
    }
}

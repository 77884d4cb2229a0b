/// What the command line says.
struct Options: Sendable {
    /// What to do.
    enum Action: Sendable {
        /// Silently, and with a sign-in page when nothing else helps.
        case getToken
        case signIn, getTokenSilently, list, signOut
    }

    static let usage = """
        usage: modern-notes [--client-id ID] [--authority URL] [--scope S …] [--username U | --identifier ID]
                            [--sign-in | --silent | --list | --sign-out]

        """

    var clientID = "d3590ed6-52b3-4102-aeff-aad2292ab01c"
    var authority = "https://login.microsoftonline.com/common"
    var scopes: [String] = []
    var username: String?
    var identifier: String?
    var action = Action.getToken

    /// Nil when there is a word that means nothing.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            switch word {
            case "--sign-in": action = .signIn
            case "--silent": action = .getTokenSilently
            case "--list": action = .list
            case "--sign-out": action = .signOut
            default:
                guard let value = words.next(), take(word, value) else { return nil }
            }
        }
        if scopes.isEmpty { scopes = ["Notes.ReadWrite"] }
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
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

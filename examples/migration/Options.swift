/// The options of the command line.
struct Options: Sendable {
    static let usage = """
        usage: migration --client-id ID [--authority URL] [--scope S …] [--state FILE]

        """

    /// The ID of the app's registration, which every app has its own of.
    var clientID = ""
    var authority = "https://login.microsoftonline.com/common"
    var scopes: [String] = []
    var state = "migration-state.json"

    /// Parses the command line; returns nil for an unknown option, one without its value, or if there is no client ID.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            guard let value = words.next() else { return nil }
            switch word {
            case "--client-id": clientID = value
            case "--authority": authority = value
            case "--scope": scopes.append(value)
            case "--state": state = value
            default: return nil
            }
        }
        guard !clientID.isEmpty else { return nil }
        if scopes.isEmpty { scopes = ["User.Read"] }
    }
}

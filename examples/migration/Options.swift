/// The options of the command line.
struct Options: Sendable {
    static let usage = """
        usage: migration [--client-id ID] [--authority URL] [--scope S …] [--state FILE]

        """

    var clientID = "d3590ed6-52b3-4102-aeff-aad2292ab01c"
    var authority = "https://login.microsoftonline.com/common"
    var scopes: [String] = []
    var state = "migration-state.json"

    /// Parses the command line; returns nil for an unknown option, or one without its value.
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
        if scopes.isEmpty { scopes = ["User.Read"] }
    }
}

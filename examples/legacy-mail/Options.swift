/// What the command line says.
struct Options: Sendable {
    /// When the sign-in page is shown.
    enum Way: Sendable {
        case whenNeeded, always, never
    }

    static let usage = """
        usage: legacy-mail [--client-id ID] [--authority URL] [--resource R] [--user-id U] [--redirect-uri URI]
                           [--sign-in | --silent]

        """

    var clientID = "d3590ed6-52b3-4102-aeff-aad2292ab01c"
    var authority = "https://login.microsoftonline.com/common"
    var resource = "https://outlook.office365.com"
    var userID: String?
    var redirectURI = "http://localhost"
    var way = Way.whenNeeded

    /// Nil when there is a word that means nothing.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            switch word {
            case "--sign-in": way = .always
            case "--silent": way = .never
            default:
                guard let value = words.next(), take(word, value) else { return nil }
            }
        }
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--client-id": clientID = value
        case "--authority": authority = value
        case "--resource": resource = value
        case "--user-id": userID = value
        case "--redirect-uri": redirectURI = value
        default: return false
        }
        return true
    }
}

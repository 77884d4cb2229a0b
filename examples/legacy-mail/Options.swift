/// The options of the command line.
struct Options: Sendable {
    /// When the sign-in page is shown.
    enum Prompt: Sendable {
        case ifRequired, always, never
    }

    static let usage = """
        usage: legacy-mail --client-id ID [--authority URL] [--resource R] [--user-id U] [--redirect-uri URI]
                           [--sign-in | --silent]

        """

    /// The ID of the app's registration, which every app has its own of.
    var clientID = ""
    var authority = "https://login.microsoftonline.com/common"
    var resource = "https://outlook.office365.com"
    var userID: String?
    var redirectURI = "http://localhost"
    var prompt = Prompt.ifRequired

    /// Parses the command line; returns nil for an unknown option, one without its value, or if there is no client ID.
    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let word = words.next() {
            switch word {
            case "--sign-in": prompt = .always
            case "--silent": prompt = .never
            default:
                guard let value = words.next(), set(word, to: value) else { return nil }
            }
        }
        guard !clientID.isEmpty else { return nil }
    }

    /// Sets the option `name`; returns false if there is none of that name.
    private mutating func set(_ name: String, to value: String) -> Bool {
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

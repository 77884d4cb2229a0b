internal import TokenModel

/// An entry of an imported cache that is of no use here, such as a token of another type: kept for the libraries that
/// understand it, and given back on export.
package struct CarriedRecord: Sendable, Equatable, Codable {
    /// The section of the cache it stood in.
    package var section: String
    /// Its name there; nil when it is the whole section.
    package var name: String?
    /// The entry as JSON.
    package var json: String
    /// Whose it is, where it says so; it goes when that account is wiped.
    package var homeAccountID: String?
    /// The app's, where it says so.
    package var clientID: String?

    enum CodingKeys: String, CodingKey {
        case section, name, json
        case homeAccountID = "home_account_id"
        case clientID = "client_id"
    }

    /// What tells it from others, by whatever name.
    var content: [String] { [section, name == nil ? "section" : "entry", json] }

    var key: String { name.map { "\(section)/\($0)" } ?? section }
}

extension CarriedRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says only how long it is: it may be a token.
    package var description: String { "<carried entry, \(json.utf8.count) bytes>" }
    /// The same as `description`.
    package var debugDescription: String { description }
    /// Shows nothing, so that `dump` of an enclosing value shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

internal import TokenModel
package import TokenStore

/// An entry of an imported cache that the agent does not use, such as a token of another type. It is kept for the libraries
/// that use it, and written again on export.
package struct OpaqueRecord: Sendable, Equatable, Codable {
    /// The section of the cache that the entry stood in.
    package var section: String
    /// The entry's name in its section; nil if the entry is the whole section.
    package var name: String?
    /// The entry as JSON.
    package var json: String
    /// The account that the entry names; the entry is removed together with that account.
    package var homeAccountID: String?
    /// The app that the entry names.
    package var clientID: String?

    enum CodingKeys: String, CodingKey {
        case section, name, json
        case homeAccountID = "home_account_id"
        case clientID = "client_id"
    }

    package init(section: String, name: String?, json: String, homeAccountID: String? = nil, clientID: String? = nil) {
        self.section = section
        self.name = name
        self.json = json
        self.homeAccountID = homeAccountID
        self.clientID = clientID
    }

    /// The content by which two entries are compared, regardless of their cache keys.
    package var content: [String] { [section, name == nil ? "section" : "entry", json] }
}

extension OpaqueRecord: RecordContent {
    package static var kind: RecordKind { .opaque }
    package var header: RecordHeader { RecordHeader(unknownFields: json) }
    package var key: String { name.map { "\(section)/\($0)" } ?? section }
    package var record: CacheRecord { .opaque(self) }

    package mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        if let identifier = homeAccountID { homeAccountID = try body("home account ID", identifier) }
        if let clientID { self.clientID = try body("client ID", clientID) }
    }
}

extension OpaqueRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the length: the entry may hold a token.
    package var description: String { "<opaque entry, \(json.utf8.count) bytes>" }
    /// The text of `description`.
    package var debugDescription: String { description }
    /// Empty, so that `dump` of an enclosing value shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

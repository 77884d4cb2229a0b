package import TokenModel
package import TokenStore

/// The fields that the cache uses of a record of any kind.
package struct RecordHeader: Sendable, Equatable {
    /// The account that the record belongs to; nil for a record of an app, and for an opaque record.
    package var account: AccountKey?
    /// The host that the record was saved under; nil for a record that is valid in every cloud.
    package var environment: String?
    /// Fields this version does not know, as JSON; preserved for export. Nil for a record that the agent made.
    package var unknownFields: String?
}

/// A record of one kind.
///
/// `CacheRecord` lists the kinds. Everything that is done to a record of whatever kind is a requirement here, so that it is
/// written next to the fields that it concerns.
package protocol RecordContent: Sendable, Equatable {
    /// The kind under which the store keeps the records.
    static var kind: RecordKind { get }
    var header: RecordHeader { get }
    /// The record's key in the store; unique among the records of its kind in a sharing group.
    var key: String { get }
    /// The record as a case of `CacheRecord`.
    var record: CacheRecord { get }

    /// Reads the packed form (`Stored/PackedRecords.swift`); nil if a required field is missing.
    init?(_ reader: inout FieldReader)
    /// Writes the fields of the packed form in the order of their numbers.
    func pack(into writer: inout FieldWriter)
    /// About the number of bytes of the packed form.
    var packedLength: Int { get }

    /// The record as JSON: what an export of the agent's own holds, and what stores of earlier versions hold.
    ///
    /// - Throws: `internalError` (-51100) if it cannot be encoded.
    func encoded() throws(TokenError) -> [UInt8]

    /// Assigns the record to another account: to the one with an identifier if it was known by a username, or to the same one of
    /// its issuer.
    mutating func assign(to account: AccountKey)
    mutating func setUnknownFields(_ json: String)
    /// Replaces every identifier by what `body` returns for it.
    mutating func mapIdentifiers(_ body: IdentifierTransform) throws(LimitViolation)
    /// Checks the values that may be neither cut nor replaced.
    ///
    /// - Throws: the first value that no message can hold.
    func checkSecrets() throws(LimitViolation)
    /// Cuts names that are shown to users to the length that a message may hold, and removes optional values that are too long.
    mutating func shortenNames()
    /// Removes optional times before 1970 or after the year 9999.
    ///
    /// - Returns: whether the record is usable, which it is not if a required time is impossible.
    mutating func removeImpossibleTimes() -> Bool
}

/// Returns an identifier, or what replaces it; `what` names its role in an error.
package typealias IdentifierTransform = (_ what: StaticString, _ text: String) throws(LimitViolation) -> String

extension RecordContent {
    package var kind: RecordKind { Self.kind }
    package var packedLength: Int { 512 }
    package mutating func assign(to account: AccountKey) {}
    package mutating func setUnknownFields(_ json: String) {}
    package func checkSecrets() throws(LimitViolation) {}
    package mutating func shortenNames() {}
    package mutating func removeImpossibleTimes() -> Bool { true }
}

extension RecordContent where Self: Encodable {
    package func encoded() throws(TokenError) -> [UInt8] { try CacheJSON.encode(self) }
}

/// A record of a token: an access, refresh or ID token.
package protocol CredentialRecord: RecordContent {
    var account: AccountKey { get set }
    var environment: String { get set }
    /// The app that the token was issued to.
    var clientID: ClientID { get set }
    var unknownFields: String? { get set }
}

extension CredentialRecord {
    package var header: RecordHeader {
        RecordHeader(account: account, environment: environment, unknownFields: unknownFields)
    }

    package mutating func assign(to account: AccountKey) { self.account = account }

    package mutating func setUnknownFields(_ json: String) { unknownFields = json }

    /// Replaces the identifiers that every credential has.
    mutating func mapCommonIdentifiers(_ body: IdentifierTransform) throws(LimitViolation) {
        account = try account.map(body)
        environment = try body("environment", environment)
        clientID = try clientID.map(body)
    }
}

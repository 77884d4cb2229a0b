internal import TokenModel

/// The fields of packed records. The numbers are on disk: they are never changed or reused.
///
/// A record has its fields in the order of their numbers.
enum PackedField: UInt8 {
    case homeAccountID = 1
    case username = 2
    case issuer = 3
    case environment = 4
    case realm = 5
    case clientID = 6
    case familyID = 7
    /// Scopes, joined by spaces.
    case target = 8
    case secret = 9
    case tokenType = 10
    case cachedAt = 11
    case expiresOn = 12
    case extendedExpiresOn = 13
    case refreshOn = 14
    case version = 15
    case obtainedOn = 16
    case unknownFields = 17
    /// A fingerprint of a replaced refresh token; any number of times.
    case replaced = 18
    case boundKind = 19
    case boundIssuer = 20
    case tokenEndpoint = 21
    case localAccountID = 22
    case authorityType = 23
    case name = 24
    case givenName = 25
    case familyName = 26
    case alternativeAccountID = 27
    case clientInfo = 28
    case source = 29
    case tenant = 30
    case subject = 31
    case signInState = 32
    /// A requested authority and the one that issued the tokens, in turn; any number of times.
    case authorityMap = 33
    case section = 34
    case json = 35
    case restrictionRealm = 36
    case restrictionTarget = 37
    case adalUserID = 38
    /// A former user ID; any number of times.
    case formerUserID = 39
}

/// Writes a record in packed form: a mark, and for each field its number, its length and its bytes.
///
/// Fields are written in the order of their numbers, in which `FieldReader` reads them.
package struct FieldWriter {
    private(set) var bytes: [UInt8] = []
    private var last: UInt8 = 0
    private let leavesOutTokens: Bool

    /// The first byte of a packed record. JSON, which earlier versions stored, never begins with it.
    static let mark: UInt8 = 1

    /// - Parameters:
    ///   - capacity: about the length of the record. An array that grows would leave copies of a token in memory.
    ///   - leavesOutTokens: whether tokens are not written: the record can only be read as an unread one.
    init(capacity: Int, leavesOutTokens: Bool = false) {
        self.leavesOutTokens = leavesOutTokens
        bytes.reserveCapacity(capacity)
        bytes.append(Self.mark)
    }

    /// Writes a text, unless it is nil.
    mutating func put(_ field: PackedField, _ text: String?) {
        guard var text else { return }
        text.withUTF8 { put(field, UnsafeRawBufferPointer($0)) }
    }

    /// Writes a time or a number, unless it is nil.
    mutating func put(_ field: PackedField, number: Int64?) {
        guard let number else { return }
        withUnsafeBytes(of: number.bigEndian) { put(field, $0) }
    }

    mutating func put(_ field: PackedField, token: Secret) {
        if !leavesOutTokens { token.withBytes { put(field, $0) } }
    }

    mutating func put(_ field: PackedField, tokenText: String) {
        if !leavesOutTokens { put(field, tokenText) }
    }

    private mutating func put(_ field: PackedField, _ value: UnsafeRawBufferPointer) {
        assert(field.rawValue >= last, "fields are written in the order of their numbers")
        last = field.rawValue
        bytes.append(field.rawValue)
        Self.append(length: value.count, to: &bytes)
        bytes.append(contentsOf: value)
    }

    /// Appends the length of a value as it is before the value: seven bits in each byte, the lowest first.
    static func append(length: Int, to bytes: inout [UInt8]) {
        var length = UInt64(length)
        while length > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(length))
    }
}

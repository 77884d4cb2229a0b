internal import TokenModel

/// One entry of an ADAL cache, whichever library wrote it and in whatever form.
struct ADALEntry: Sendable, Equatable {
    var authority: String?
    var resource: String?
    var clientID: String?
    var familyID: String?
    var accessToken: String?
    var tokenType: String?
    var refreshToken: String?
    /// Seconds since 1970, like the others.
    var expiresOn: Int64?
    var extendedExpiresOn: Int64?
    /// When the tokens were obtained, where that is known.
    var obtainedOn: Int64?
    /// Whether the refresh token serves every resource; nil when only the rest of the entry can tell.
    var isMultiResource: Bool?
    var userID: String?
    var homeAccountID: HomeAccountID?
    var idToken: String?
    var tenantID: String?
    var objectID: String?
    var givenName: String?
    var familyName: String?
    /// Whether the access token may be used by one app of the device only, by the order of its management.
    var isManaged = false
    /// Whether it only remembers that a refresh token was rejected.
    var isTombstone = false

    /// What Objective-C's ADAL puts in the place of a rejected refresh token.
    static let tombstone = "<tombstone>"
    /// The client ID under which Objective-C's ADAL keeps a family's refresh token.
    static let familyPrefix = "foci-"
}

internal import Foundation

/// A refresh token as the emulator remembers it.
struct RefreshToken: Sendable {
    var user: User
    var clientID: String
    var familyID: String?
    var issuer: String
    /// What the sign-in granted; a redemption that names no scope gets these.
    var scopes: [String]
    var resource: String?
    var expiresOn: Date
    /// It was redeemed and replaced.
    var isReplaced = false
    var isRevoked = false
}

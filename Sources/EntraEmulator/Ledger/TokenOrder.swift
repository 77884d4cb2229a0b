internal import Foundation

/// Tokens that were decided on and remain to be written and signed.
struct TokenOrder: Sendable {
    var user: User
    var tenantID: String
    var clientID: String
    var scopes: [String]
    var resource: String?
    var nonce: String?
    /// nil leaves the field out of the reply.
    var refreshToken: String?
    var familyID: String?
    /// Makes two access tokens of one second differ.
    var tokenID: String
    var issuedAt: Date
}

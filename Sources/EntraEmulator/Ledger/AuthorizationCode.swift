internal import Foundation

/// What a sign-in was for, kept until its code is redeemed.
struct AuthorizationCode: Sendable {
    var user: User
    var tenantID: String
    var issuer: String
    var clientID: String
    var redirectURI: String
    var pkce: PKCE
    var scopes: [String]
    var resource: String?
    var nonce: String?
    var expiresOn: Date
    var isRedeemed = false
}

internal import Foundation
internal import TokenModel

extension ADTokenCacheItem {
    /// A credential of the agent's cache in ADAL's shape: a family's refresh token is that of an app named `foci-`*n*.
    convenience init(_ credential: Credential) {
        self.init()
        resource = credential.scopes.resource
        authority = credential.authority
        clientId = credential.familyID.map { "foci-\($0)" } ?? credential.clientID.text
        familyId = credential.familyID?.text
        accessToken = credential.accessToken?.reveal()
        accessTokenType = credential.accessToken.map { _ in credential.tokenType?.trimmedNonEmpty ?? "Bearer" }
        expiresOn = credential.expiresOn.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        userInformation = ADUserInformation(credential.idToken, credential.account)
        standsForRefreshToken = credential.kind == .refreshToken
    }
}

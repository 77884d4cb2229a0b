internal import Foundation
internal import TokenModel

extension ADTokenCacheItem {
    /// The agent's answer in ADAL's shape.
    convenience init(_ token: TokenResult, for target: TokenRequest.Target) {
        self.init()
        resource = target.resource
        authority = target.authority.inCloud(of: token.authority)
        clientId = target.clientID
        familyId = token.familyID?.text
        accessToken = token.accessToken.reveal()
        accessTokenType = token.tokenType.trimmedNonEmpty ?? "Bearer"
        let expiry = token.isExtendedLifetime ? token.extendedExpiresOn ?? token.expiresOn : token.expiresOn
        expiresOn = Date(timeIntervalSince1970: TimeInterval(expiry))
        userInformation = ADUserInformation(token.idToken, token.account.reference)
    }
}

extension ADUserInformation {
    /// Whose token it is: what the ID token says, else what the agent knows; nil when that is nothing.
    convenience init?(_ idToken: String?, _ account: AccountReference) {
        let homeAccountID = account.homeAccountID?.text
        if let idToken, UserClaims(idToken: idToken)?.user != nil {
            self.init(idToken: idToken, homeAccountID: homeAccountID)
        } else if let username = account.username.flatMap(ADUserInformation.normalizeUserId) {
            self.init(userID: username, isDisplayable: true, homeAccountID: homeAccountID)
        } else if let homeAccountID {
            self.init(userID: homeAccountID, isDisplayable: false, homeAccountID: homeAccountID)
        } else {
            return nil
        }
    }
}

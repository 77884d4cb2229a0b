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
        userInformation = ADUserInformation(token)
    }
}

extension ADUserInformation {
    /// Whose token it is: what the ID token says, else what the agent knows; nil when that is nothing.
    convenience init?(_ token: TokenResult) {
        let homeAccountID = token.account.homeAccountID?.text
        if let idToken = token.idToken, UserClaims(idToken: idToken)?.user != nil {
            self.init(idToken: idToken, homeAccountID: homeAccountID)
        } else if let username = token.account.username.flatMap(ADUserInformation.normalizeUserId) {
            self.init(userID: username, isDisplayable: true, homeAccountID: homeAccountID)
        } else if let homeAccountID {
            self.init(userID: homeAccountID, isDisplayable: false, homeAccountID: homeAccountID)
        } else {
            return nil
        }
    }
}

extension CanonicalAuthority {
    /// This authority, or the same tenant in the cloud of `issuer` where that is another one.
    func inCloud(of issuer: String) -> String {
        guard let issuer = try? Authority(issuer) else { return text }
        let (asked, answered) = (authority.environment, issuer.environment)
        let isForeign =
            Self.clouds.knows(asked) && Self.clouds.knows(answered) && !Self.clouds.sameCloud(asked, answered)
        return isForeign ? authority.withEnvironment(answered).url : text
    }

    private static let clouds = CloudDirectory()
}

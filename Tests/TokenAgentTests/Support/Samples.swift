internal import Foundation
internal import Testing
internal import TokenModel

extension ClientID {
    static let sample: ClientID = {
        guard let sample = ClientID("app") else { preconditionFailure("not blank") }
        return sample
    }()

    /// Another app than `sample`.
    static func sample(_ number: Int) throws -> ClientID { try #require(ClientID("app-\(number)")) }
}

extension TokenParameters {
    static func sample(
        _ scopes: [String] = ["User.Read"], authority: Authority = .common, group: SharingGroup = .standard,
        version: OAuthVersion = .v2
    ) -> TokenParameters {
        TokenParameters(
            clientID: .sample, sharingGroup: group, authority: authority, version: version, scopes: ScopeSet(scopes))
    }
}

extension AccountReference {
    static func sample(_ user: String) -> AccountReference { AccountReference(homeAccountID: .sample(user)) }
}

extension HomeAccountID {
    static func sample(_ user: String) -> HomeAccountID {
        guard let sample = HomeAccountID(uid: user, utid: "tenant") else { preconditionFailure("both are given") }
        return sample
    }
}

extension AcquireTokenSilent {
    /// A request that needs a redemption, whatever access tokens are cached.
    static func sample(
        _ user: String, _ parameters: TokenParameters = .sample(), force: Bool = true
    ) -> AcquireTokenSilent {
        AcquireTokenSilent(parameters: parameters, account: .sample(user), forceRefresh: force)
    }
}

extension IssuedTokens {
    /// Tokens of a user: the access token `at-TOKEN` and the refresh token `rt-TOKEN`.
    static func sample(_ user: String, _ token: String) -> IssuedTokens {
        let claims =
            "{\"oid\":\"\(user)\",\"preferred_username\":\"\(user)@contoso.com\",\"sub\":\"\(user)\",\"tid\":\"tenant\"}"
        return IssuedTokens(
            accessToken: Secret("at-\(token)"), refreshToken: Secret("rt-\(token)"),
            idToken: "e30.\(Base64URL.encode(Data(claims.utf8))).", homeAccountID: .sample(user))
    }
}

extension TokenError {
    /// A token endpoint's refusal of a refresh token that is not valid any more.
    static let invalidGrant = refusal("invalid_grant", .interactionRequired)

    static func refusal(_ oauthError: String, _ code: Code) -> TokenError {
        var details = Details()
        details.oauthError = oauthError
        details.httpStatus = 400
        return TokenError(code, "the token endpoint refuses", details: details)
    }
}

package import TokenModel

/// The changes that save a response, and the result for the app.
package struct SavedTokens: Sendable {
    package var account: AccountKey
    package var changes: [CacheChange]
    package var result: TokenResult
}

/// The request that a response answers.
package enum Issuance: Sendable {
    /// An interactive sign-in; it ends an earlier sign-out.
    case signIn
    /// The redemption of a refresh token.
    case redemption(RefreshTokenRecord)

    /// The refresh token that was redeemed; nil for a sign-in.
    package var redeemedToken: RefreshTokenRecord? {
        if case .redemption(let token) = self { token } else { nil }
    }
}

package import TokenModel

/// What saving a response amounts to: the steps to take, and what the app will get.
package struct SavedTokens: Sendable {
    package var owner: OwnerID
    package var changes: [CacheChange]
    package var result: TokenResult
}

/// Where a response comes from.
package enum Issuance: Sendable {
    /// A person signed in: this undoes an earlier sign-out.
    case signIn
    /// A refresh token of this account was redeemed.
    case redemption(RefreshTokenRecord)
}

package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The changes that follow from a token endpoint's rejection of a refresh token.
    ///
    /// Only `bad_token` makes the token invalid; other rejections may be temporary. A token that has been replaced since is kept. If the
    /// user's account was deleted, no app is signed in to it any more, but sign-outs stay: a family's refresh token may be left.
    package func changes(
        rejecting token: RefreshTokenRecord, for clientID: ClientID, in group: SharingGroup, _ error: TokenError
    ) -> [CacheChange] {
        let partition = partition(group)
        let credentials = partition[token.account]
        switch (error.details.rejection, error.details.subError) {
        case (.refreshToken, _):
            return changes(removing: token, in: group)
        case (.account, _):
            guard refreshToken(token.secret, of: token.account, in: group) != nil else { return [] }
            return credentialRemovals(of: token.account, credentials, group) { $0 == clientID }
                + credentials.metadata.filter { $0.value.signInState == .signedIn }.sorted { $0.key < $1.key }
                .map { remove(.accountMetadata, $0.value.key, account: token.account, group) }
        case (_, "client_mismatch") where token.familyID != nil:
            var app =
                appMetadata(of: clientID, at: token.environment, in: partition)
                ?? AppMetadataRecord(clientID: clientID.text, environment: token.environment, familyID: "")
            app.familyID = ""
            return [.save(.appMetadata(app))]
        default: return []
        }
    }

    /// The changes that remove a refresh token, unless it has been replaced since.
    package func changes(removing token: RefreshTokenRecord, in group: SharingGroup) -> [CacheChange] {
        partition(group)[token.account].refreshTokens.values.filter { $0.secret == token.secret }
            .sorted { $0.key < $1.key }.map { remove(.refreshToken, $0.key, account: token.account, group) }
    }

    /// The changes that put the refresh token of a response in the place of the one that was redeemed, and of its copies: each app of a
    /// family may have one, besides the family's. Empty if the response has no other refresh token, or one that cannot be stored.
    package func changes(
        renewing token: RefreshTokenRecord, with tokens: IssuedTokens, for clientID: ClientID, at now: Int64,
        in group: SharingGroup
    ) -> [CacheChange] {
        guard let secret = tokens.refreshToken, secret != token.secret else { return [] }
        let copies = partition(group)[token.account].refreshTokens.values.filter { held in
            guard held.secret == token.secret else { return false }
            // Without a family, the response is of use to its app only.
            guard held.familyID == nil else { return held.familyID == tokens.familyID }
            return held.clientID == clientID || tokens.familyID != nil
        }
        return copies.sorted { $0.key < $1.key }.compactMap { held in
            var renewed = held
            (renewed.secret, renewed.obtainedOn) = (secret, now)
            renewed.noteReplacement(of: held)
            return (try? CacheRecord.refreshToken(renewed).withinLimits()).map(CacheChange.save)
        }
    }

    /// The accounts that may have a refresh token that an app has redeemed: those that the app names, and those that the response names.
    package func accounts(
        namedBy reference: AccountReference, _ tokens: IssuedTokens, at authority: Authority, in group: SharingGroup
    ) -> [AccountKey] {
        let partition = partition(group)
        let claims = tokens.claims
        let subject = claims?.subject.flatMap { HomeAccountID.ofUser(withSubject: $0, at: authority.kind) }
        let identifiers = [reference.homeAccountID, tokens.homeAccountID, subject].compactMap(\.self)
        let names = [reference.username, claims?.v1UserID, claims?.v2Username].compactMap(\.self)
            .filter { partition.accountCount(named: $0) <= Self.searchedAccounts }
        let accounts =
            identifiers.map { accountKey(.home($0), at: authority, in: partition) }
            + names.flatMap { self.accounts(named: $0, at: authority, in: partition) }
        var seen: Set<AccountKey> = []
        return accounts.filter { partition.contains($0) && seen.insert($0).inserted }
    }

    /// The record of a refresh token that an account has; nil if there is none. Of several copies, it is the first by their keys.
    package func refreshToken(_ secret: Secret, of account: AccountKey, in group: SharingGroup) -> RefreshTokenRecord? {
        partition(group)[account].refreshTokens.values.filter { $0.secret == secret }.min { $0.key < $1.key }
    }

    /// Whether the cache still holds a refresh token under this one's key, whatever its secret, or this one in an account to which it has
    /// moved. If not, the app has signed out since the token was read.
    ///
    /// Callers read the tokens of `accounts(withTokensOf:in:)` first. One that could not be read may be this one, and counts as this one.
    package func stillHolds(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        let partition = partition(group)
        if partition[token.account].refreshTokens[token.key] != nil { return true }
        return accounts(withTokensOf: token.account, in: group).dropFirst().contains { account in
            partition[account].refreshTokens.values.contains { $0.secret == token.secret || $0.secret.isUnread }
        }
    }

    /// The accounts that may have the tokens that an account had: itself, and the accounts to which they have moved since if it was known
    /// by its username and has got its identifier.
    package func accounts(withTokensOf account: AccountKey, in group: SharingGroup) -> [AccountKey] {
        let named = account.name.map { partition(group).accounts(named: $0, of: account.issuer) } ?? []
        return [account] + named.filter { $0 != account }
    }

    /// The refresh token under this one's key: itself, or the token that has replaced it since by a sign-in or an import.
    package func refreshToken(inPlaceOf token: RefreshTokenRecord, in group: SharingGroup) -> RefreshTokenRecord? {
        partition(group)[token.account].refreshTokens[token.key]
    }

    /// Whether a sign-in, an import or a redemption has put another refresh token in the place of this one. One that is in the store only may
    /// be this one: callers read the account first.
    package func hasReplaced(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        guard let held = refreshToken(inPlaceOf: token, in: group)?.secret else { return false }
        return !held.isUnread && held != token.secret
    }

    /// Whether an access token is still in the cache, including that of an account that has got its identifier since.
    ///
    /// Callers read the tokens of `accounts(withTokensOf:in:)` first. One that could not be read may be this one, and counts as this one.
    package func stillHolds(_ accessToken: Secret, of account: AccountKey, in group: SharingGroup) -> Bool {
        accounts(withTokensOf: account, in: group).contains { account in
            partition(group)[account].accessTokens.values.contains { $0.secret == accessToken || $0.secret.isUnread }
        }
    }

    /// Whether the app has signed out of the authority's account with this identifier.
    package func isSignedOut(_ identifier: HomeAccountID, of parameters: TokenParameters) -> Bool {
        let partition = partition(parameters.sharingGroup)
        return isSignedOut(accountKey(.home(identifier), at: parameters.authority, in: partition), of: parameters)
    }

    /// Whether the app has signed out of an account. The refresh token of its family may be in the cache nevertheless, for the other apps.
    package func isSignedOut(_ account: AccountKey, of parameters: TokenParameters) -> Bool {
        partition(parameters.sharingGroup)[account].isSignedOut(parameters.clientID)
    }

    /// The refresh tokens in the cache that `changes` would replace.
    package func refreshTokens(replacedBy changes: [CacheChange], in group: SharingGroup) -> [Secret] {
        let partition = partition(group)
        return changes.compactMap { change in
            guard case .save(.refreshToken(let token)) = change else { return nil }
            return partition[token.account].refreshTokens[token.key]?.secret
        }
    }
}

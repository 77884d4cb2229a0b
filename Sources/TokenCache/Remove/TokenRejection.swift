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
}

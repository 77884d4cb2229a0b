package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// What a token endpoint's refusal of a refresh token changes.
    ///
    /// Only `bad_token` makes the token worthless; anything else may pass. A token that was replaced meanwhile is left alone.
    package func changes(
        rejecting token: RefreshTokenRecord, for clientID: ClientID, in group: SharingGroup, _ error: TokenError
    ) -> [CacheChange] {
        let partition = partition(group)
        let holdings = partition[token.owner]
        switch (error.details.oauthError, error.details.subError) {
        case ("invalid_grant", "bad_token"):
            return holdings.refreshTokens.values.filter { $0.secret == token.secret }.sorted { $0.key < $1.key }
                .map { remove(.refreshToken, $0.key, owner: token.owner, group) }
        case ("invalid_grant", "user_account_deleted"):
            guard stillHolds(secret: token.secret, of: token.owner, in: group) else { return [] }
            return credentials(of: token.owner, holdings, group) { $0 == clientID }
                + holdings.metadata.values.sorted { $0.key < $1.key }.map {
                    remove(.accountMetadata, $0.key, owner: token.owner, group)
                }
        case (_, "client_mismatch") where token.familyID != nil:
            var app =
                appMetadata(of: clientID, at: token.environment, in: partition)
                ?? AppMetadataRecord(clientID: clientID.text, environment: token.environment, familyID: "")
            app.familyID = ""
            return [.save(.appMetadata(app))]
        default: return []
        }
    }

    /// Whether the cache still holds this refresh token, under whatever secret: if not, somebody signed out meanwhile.
    package func stillHolds(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        let partition = partition(group)
        if partition[token.owner].refreshTokens[token.key] != nil { return true }
        // An account known by name may have got its identifier meanwhile, and taken its tokens with it.
        guard case .name(let name) = token.owner else { return false }
        return partition.owners(named: name).contains { owner in
            partition[owner].refreshTokens.values.contains { $0.secret == token.secret }
        }
    }

    /// What is in the place of a refresh token: itself, or what a sign-in or an import has put there since.
    package func refreshToken(inPlaceOf token: RefreshTokenRecord, in group: SharingGroup) -> RefreshTokenRecord? {
        partition(group)[token.owner].refreshTokens[token.key]
    }

    /// Whether an access token is still in the cache, also of an account that has got its identifier meanwhile.
    package func stillHolds(_ accessToken: Secret, of owner: OwnerID, in group: SharingGroup) -> Bool {
        let partition = partition(group)
        var owners = [owner]
        if case .name(let name) = owner { owners += partition.owners(named: name) }
        return owners.contains { owner in
            partition[owner].accessTokens.values.contains { $0.secret == accessToken }
        }
    }

    private func stillHolds(secret: Secret, of owner: OwnerID, in group: SharingGroup) -> Bool {
        partition(group)[owner].refreshTokens.values.contains { $0.secret == secret }
    }

    /// Whether the app has signed out of the account.
    package func isSignedOut(_ owner: OwnerID, of clientID: ClientID, in group: SharingGroup) -> Bool {
        partition(group)[owner].isSignedOut(clientID)
    }
}

extension CredentialCache {
    /// The name people know the account by.
    package func username(of owner: OwnerID, in group: SharingGroup) -> String? {
        partition(group)[owner].orderedAccounts.first?.username.trimmedNonEmpty
    }
}

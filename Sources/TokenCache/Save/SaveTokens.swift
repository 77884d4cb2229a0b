package import TokenModel
internal import TokenStore

/// The changes that save a response, and the result for the app.
package struct SavedTokens: Sendable {
    package var changes: [CacheChange]
    package var result: TokenResult
}

/// The request that a response answers.
package enum Issuance: Sendable {
    /// A sign-in, or the redemption of a grant that the app has; it ends an earlier sign-out.
    case signIn
    /// The redemption of a refresh token.
    case redemption(RefreshTokenRecord)

    /// The refresh token that was redeemed; nil for a sign-in, or another grant.
    package var redeemedToken: RefreshTokenRecord? {
        if case .redemption(let token) = self { token } else { nil }
    }
}

extension CredentialCache {
    /// The changes that save a token response, and the result for the app. The cache itself is not changed.
    ///
    /// - Parameters:
    ///   - requested: the authority of the request, by which ADAL finds a v1 token.
    ///   - inUse: refresh tokens that are being redeemed, which are not changed.
    ///   - adoptable: the accounts whose records may be moved to the response's; nil for any.
    /// - Throws: `serverInvalidResponse` (-51401) if the response has no access token, or names no account.
    package func changes(
        saving tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at requested: Authority,
        now: Int64, leaving inUse: Set<Secret> = [], adopting adoptable: Set<AccountKey>? = nil
    ) throws(TokenError) -> SavedTokens {
        let partition = partition(parameters.sharingGroup)
        let saving = try Saving(
            tokens: withoutOutdated(tokens, issuance, in: parameters.sharingGroup),
            issuance: issuance, parameters: parameters, requested: requested, in: partition, of: self, now: now)
        let credentials = partition[saving.account]
        let app = appMetadata(of: parameters.clientID, at: saving.environment, in: partition)
        var changes = replacedTokens(saving, credentials)
        let adopted = adoptedAccounts(saving, in: partition, leaving: inUse, from: adoptable)
        let records = try saving.records(
            knownBefore: credentials, formerNames: adopted.compactMap(\.name), app: app, clouds)
        for record in records {
            changes += save(
                record, replacing: credentials.aliasMatch(of: record, clouds), parameters.sharingGroup)
        }
        changes += supersededTokens(saving, in: partition)
        let copies = renewedCopies(saving, with: tokens.refreshToken)
        if issuance.redeemedToken?.account == saving.account {
            let group = parameters.sharingGroup
            changes += copies.filter { copy in !changes.contains { $0.key(in: group) == copy.key(in: group) } }
        }
        changes += adopted.flatMap { adoptedRecords(of: $0, saving, copies, in: partition, leaving: inUse) }
        return SavedTokens(
            changes: changes,
            result: try saving.result(of: records, cache: self, credentials: credentials))
    }

    /// The account whose records `changes(saving:from:_:at:now:leaving:adopting:)` changes. At other issuers than Microsoft it
    /// depends on the accounts that the cache has, too (`accountKey`).
    package func account(
        of tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at requested: Authority
    ) -> AccountKey {
        Saving.account(
            tokens, issuance, claims: tokens.claims, parameters: parameters,
            requested: requested, in: partition(parameters.sharingGroup), of: self)
    }

    /// The tokens to save: without the refresh token if a sign-in or an import has replaced the one that was redeemed, since
    /// that replacement is newer.
    private func withoutOutdated(_ tokens: IssuedTokens, _ issuance: Issuance, in group: SharingGroup) -> IssuedTokens {
        guard case .redemption(let used) = issuance, let held = refreshToken(inPlaceOf: used, in: group),
            held.secret != used.secret, !held.secret.isUnread
        else { return tokens }
        var tokens = tokens
        tokens.refreshToken = nil
        return tokens
    }

    /// Removes the access tokens that have a scope of the new one, apart from the scopes that every token has, those of which there are too
    /// many, and those of the account that were saved in what is now the future: once the clock has caught up, they would be taken for valid.
    private func replacedTokens(_ saving: Saving, _ credentials: AccountCredentials) -> [CacheChange] {
        guard let new = saving.accessToken else { return [] }
        let others = credentials.accessTokens(of: new.series).filter { !$0.key.hasSameBytes(as: new.key) }
        let isExact = new.account.issuer.comparesExactly(realm: new.realm)
        let replaced = others.filter { old in
            old.cachedAt > saving.now
                || clouds.sameCloud(old.environment, new.environment)
                    && (old.scopes.hasSameScopes(as: new.scopes, isExact)
                        || old.scopes.subtracting(.ofNoResource).intersects(new.scopes, isExact))
        }
        let kept = Set(others.map(\.key)).subtracting(replaced.map(\.key))
        // Every request of the app searches these tokens.
        let surplus =
            kept.count < Self.tokensOfAnApp
            ? []
            : others.filter { kept.contains($0.key) }.sorted { ($0.expiresOn, $0.key) < ($1.expiresOn, $1.key) }
                .prefix(kept.count - Self.tokensOfAnApp + 1)
        let ofTheFuture = credentials.accessTokens.values.filter { $0.cachedAt > saving.now && $0.series != new.series }
        return (replaced + surplus + ofTheFuture).map {
            remove(.accessToken, $0.key, account: $0.account, saving.parameters.sharingGroup)
        }
    }

    /// The maximum number of access tokens that are kept of an account for one app, realm and version. Of more, those are removed
    /// that expire first; an app that asks for one of them again gets a new one.
    private static let tokensOfAnApp = 256

    /// Saves a record, and removes the one of another library that it replaces under another name of the cloud. That library's
    /// unknown fields and its name for the cloud are preserved for export.
    private func save(_ record: CacheRecord, replacing match: CacheRecord?, _ group: SharingGroup) -> [CacheChange] {
        guard let match else { return [.save(record)] }
        let key = match.key(in: group)
        return [
            .save(record.inheritingUnknownFields(from: match)),
            remove(key.kind, key.key, account: match.header.account, group),
        ]
    }

    /// Removes the refresh token that was redeemed, if the new one is saved under another name of the cloud and so does not
    /// replace it. The token of a family stays if the response has none for the family: other members need it, and Microsoft's libraries
    /// keep it, too.
    private func supersededTokens(_ saving: Saving, in partition: Partition) -> [CacheChange] {
        guard case .redemption(let used) = saving.issuance, let new = saving.tokens.refreshToken, new != used.secret,
            used.account == saving.account, used.environment != saving.environment
        else { return [] }
        return partition[used.account].refreshTokens.values.filter {
            $0.secret == used.secret && saving.replaces($0, used)
        }.map(\.key).sorted()
            .map { remove(.refreshToken, $0, account: used.account, saving.parameters.sharingGroup) }
    }

    /// Renews the other copies of the refresh token that was redeemed: the next redemption of another member of the family would send it
    /// again.
    ///
    /// - Parameter secret: the refresh token of the response, also if that token itself has been replaced by a newer one.
    private func renewedCopies(_ saving: Saving, with secret: Secret?) -> [CacheChange] {
        guard case .redemption(let used) = saving.issuance else { return [] }
        let parameters = saving.parameters
        var tokens = saving.tokens
        tokens.refreshToken = secret
        return changes(
            renewing: used, with: tokens, for: parameters.clientID, at: saving.now, in: parameters.sharingGroup)
    }

    func remove(_ kind: RecordKind, _ key: String, account: AccountKey?, _ group: SharingGroup) -> CacheChange {
        .remove(RecordKey(group: group.name, kind: kind, key: key), account: account)
    }
}

extension CacheChange {
    /// The key of the record that is changed; nil for a change of all.
    fileprivate func key(in group: SharingGroup) -> RecordKey? {
        switch self {
        case .save(let record): record.key(in: group)
        case .remove(let key, _): key
        case .removeEverything: nil
        }
    }
}

/// The first redemption of a refresh token of an account that was known by its username alone reports its identifier. So does a sign-in of
/// the user whom an import has named by the tenant's directory only.
extension CredentialCache {
    /// The accounts that are known by a username only, and whose records move to the identifier.
    ///
    /// - Parameter adoptable: the accounts whose records may be moved; nil for any.
    private func adoptedAccounts(
        _ saving: Saving, in partition: Partition, leaving inUse: Set<Secret>, from adoptable: Set<AccountKey>?
    ) -> [AccountKey] {
        guard saving.account.homeAccountID != nil else { return [] }
        let named =
            saving.issuance.redeemedToken.map { [$0.account] }
            ?? namesakes(of: saving.account, saving.tokens, at: saving.requested, in: saving.parameters.sharingGroup)
            // A redemption in progress changes its account, too.
            .filter { !partition[$0].refreshTokens.values.contains { inUse.contains($0.secret) } }
        return named.filter { $0.name != nil && (adoptable?.contains($0) ?? true) }
    }

    /// The accounts that are known by a username only, and are the user of a sign-in: an import has named the user by the same object of
    /// the same tenant's directory.
    package func namesakes(
        of account: AccountKey, _ tokens: IssuedTokens, at requested: Authority, in group: SharingGroup
    ) -> [AccountKey] {
        guard requested.kind == .entra, account.homeAccountID != nil, let claims = tokens.claims,
            let user = claims.objectID, let tenant = claims.tenantID?.lowercased()
        else { return [] }
        let partition = partition(group)
        let environment = cacheEnvironment(of: requested)
        let names = Set([claims.v1UserID, claims.v2Username?.lowercased()].compactMap(\.self)).sorted()
        return names.flatMap { partition.accounts(named: $0, of: account.issuer) }.filter { account in
            account.name != nil
                && partition[account].accounts.values.contains {
                    $0.realm == tenant && $0.localAccountID == user && clouds.sameCloud($0.environment, environment)
                }
        }
    }

    /// Moves the records of a username to the identifier, so that apps find them by either.
    ///
    /// Refresh tokens that are being redeemed are not moved: their redemptions save newer ones, which must not be overwritten.
    ///
    /// - Parameter copies: the renewed copies of the refresh token that was redeemed, under the username.
    private func adoptedRecords(
        of account: AccountKey, _ saving: Saving, _ copies: [CacheChange], in partition: Partition,
        leaving inUse: Set<Secret>
    ) -> [CacheChange] {
        let used = saving.issuance.redeemedToken
        let credentials = partition[saving.account]
        let group = saving.parameters.sharingGroup
        var changes: [CacheChange] = []
        // What could not be read stays under the username.
        for record in partition[account].records where !record.isUnread {
            if let environment = record.header.environment, !clouds.sameCloud(environment, saving.environment) {
                continue
            }
            let copy = copies.first { $0.key(in: group) == record.key(in: group) }
            let moved = (copy?.savedRecord ?? record).assigned(to: saving.account)
            if case .refreshToken(let token) = record, !saving.replaces(token, used) {
                // Which of two refresh tokens is the better one is unknown: both are kept.
                if credentials.contains(moved) || token.secret != used?.secret && inUse.contains(token.secret) {
                    if let copy { changes.append(copy) }
                    continue
                }
                changes.append(.save(moved))
            } else if !saving.replaces(record), !credentials.contains(moved) {
                changes.append(.save(moved))
            }
            changes.append(.remove(record.key(in: group), account: account))
        }
        return changes
    }
}

extension ScopeSet {
    /// - Parameter isExact: whether case matters.
    fileprivate func hasSameScopes(as other: ScopeSet, _ isExact: Bool) -> Bool {
        isExact ? Set(scopes) == Set(other.scopes) : self == other
    }

    /// - Parameter isExact: whether case matters.
    fileprivate func intersects(_ other: ScopeSet, _ isExact: Bool) -> Bool {
        isExact ? !Set(scopes).isDisjoint(with: other.scopes) : intersects(other)
    }
}

extension Saving {
    /// Whether the response includes a newer refresh token for the same app or family.
    fileprivate func replaces(_ token: RefreshTokenRecord, _ used: RefreshTokenRecord?) -> Bool {
        guard tokens.refreshToken != nil, token.secret == used?.secret || token.restriction == nil else { return false }
        guard let family = token.familyID else { return token.clientID == parameters.clientID }
        return family == tokens.familyID
    }

    /// Whether the response includes newer values of everything in the record.
    fileprivate func replaces(_ record: CacheRecord) -> Bool {
        switch record {
        case .refreshToken: true
        // The user of another tenant's directory is another profile of the account, by which an import recognises it.
        case .account(let record): claims != nil && (record.realm == tenant || !record.namesDirectoryUser)
        case .accountMetadata(let metadata): ClientID(metadata.clientID) == parameters.clientID
        default: false
        }
    }
}

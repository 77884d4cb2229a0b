package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// What a token response changes, and the result for the app; nothing changes yet.
    ///
    /// - Parameters:
    ///   - asked: the authority that was asked, which a v1 token is found by again.
    ///   - inUse: refresh tokens that are being redeemed, and must not be touched meanwhile.
    /// - Throws: `serverInvalidResponse` (-51401) when the response says neither what it grants nor to whom.
    package func changes(
        saving tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at asked: Authority,
        now: Int64, leaving inUse: Set<Secret> = []
    ) throws(TokenError) -> SavedTokens {
        let partition = partition(parameters.sharingGroup)
        let saving = try Saving(
            tokens: withoutOutdated(tokens, issuance, in: parameters.sharingGroup),
            issuance: issuance, parameters: parameters, asked: asked,
            environment: cacheEnvironment(of: asked), now: now)
        let holdings = partition[saving.owner]
        let app = appMetadata(of: parameters.clientID, at: saving.environment, in: partition)
        var changes = replacedTokens(saving, holdings)
        let records = try saving.records(knownBefore: holdings, app: app, clouds)
        for record in records {
            changes += save(record, inPlaceOf: holdings.twin(of: record, clouds), parameters.sharingGroup)
        }
        changes += supersededTokens(saving, in: partition)
        changes += adoptedRecords(saving, in: partition, leaving: inUse)
        return SavedTokens(
            owner: saving.owner, changes: changes,
            result: try saving.result(of: records, cache: self, holdings: holdings))
    }

    /// The tokens to save: where a sign-in or an import has put another refresh token in the place of the one that was
    /// redeemed, that one is the newer, and stays.
    private func withoutOutdated(
        _ tokens: IssuedTokens, _ issuance: Issuance, in group: SharingGroup
    ) -> IssuedTokens {
        guard case .redemption(let used) = issuance, let held = refreshToken(inPlaceOf: used, in: group),
            held.secret != used.secret
        else { return tokens }
        var tokens = tokens
        tokens.refreshToken = nil
        return tokens
    }

    /// Access tokens whose scopes the new one takes over. Scopes that every token has say nothing about that.
    private func replacedTokens(_ saving: Saving, _ holdings: Holdings) -> [CacheChange] {
        guard let new = saving.accessToken else { return [] }
        return holdings.accessTokens.values.filter { old in
            old.key != new.key && old.version == new.version && old.clientID == new.clientID && old.realm == new.realm
                && clouds.sameCloud(old.environment, new.environment)
                && (old.scopes == new.scopes || old.scopes.subtracting(Self.common).intersects(new.scopes))
        }.map { remove(.accessToken, $0.key, owner: $0.owner, saving.parameters.sharingGroup) }
    }

    private static let common = ScopeSet.reserved.union(ScopeSet(["email"]))

    /// Saves a record, and removes what stood in its place under another name of its cloud, as another library wrote it:
    /// what that library said beyond the record, and the name itself, are written again on export.
    private func save(_ record: CacheRecord, inPlaceOf twin: CacheRecord?, _ group: SharingGroup) -> [CacheChange] {
        guard let twin else { return [.save(record)] }
        let key = twin.key(in: group)
        return [.save(record.inheriting(from: twin)), remove(key.kind, key.key, owner: twin.owner, group)]
    }

    /// The refresh token that was used up, where the new one does not take its place: its cloud has got another name to
    /// save under.
    private func supersededTokens(_ saving: Saving, in partition: Partition) -> [CacheChange] {
        guard case .redemption(let used) = saving.issuance, let new = saving.tokens.refreshToken, new != used.secret,
            used.owner == saving.owner, used.environment != saving.environment
        else { return [] }
        return partition[used.owner].refreshTokens.values.filter { $0.secret == used.secret }.map(\.key).sorted()
            .map { remove(.refreshToken, $0, owner: used.owner, saving.parameters.sharingGroup) }
    }

    func remove(_ kind: RecordKind, _ key: String, owner: OwnerID?, _ group: SharingGroup) -> CacheChange {
        .remove(RecordKey(group: group.name, kind: kind, key: key), owner: owner)
    }
}

package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// What a token response changes, and the result for the app; nothing changes yet.
    ///
    /// - Parameters:
    ///   - asked: the authority that was asked, which a v1 token is found by again.
    /// - Throws: `serverInvalidResponse` (-51401) when the response says neither what it grants nor to whom.
    package func changes(
        saving tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at asked: Authority,
        now: Int64
    ) throws(TokenError) -> SavedTokens {
        let saving = try Saving(
            tokens: tokens, issuance: issuance, parameters: parameters, asked: asked,
            environment: cacheEnvironment(of: asked), now: now)
        let partition = partition(parameters.sharingGroup)
        let holdings = partition[saving.owner]
        var changes = replacedTokens(saving, holdings)
        changes += saving.records(knownBefore: holdings).map(CacheChange.save)
        changes += supersededTokens(saving, in: partition)
        return SavedTokens(
            owner: saving.owner, changes: changes, result: try saving.result(cache: self, holdings: holdings))
    }

    /// Access tokens whose scopes the new one takes over. Scopes that every token has say nothing about that.
    private func replacedTokens(_ saving: Saving, _ holdings: Holdings) -> [CacheChange] {
        guard let new = saving.accessToken else { return [] }
        return holdings.accessTokens.values.filter { old in
            old.key != new.key && old.version == new.version && old.clientID == new.clientID && old.realm == new.realm
                && old.environment == new.environment && old.scopes.subtracting(Self.common).intersects(new.scopes)
        }.map { remove(.accessToken, $0.key, owner: $0.owner, saving.parameters.sharingGroup) }
    }

    private static let common = ScopeSet.reserved.union(ScopeSet(["email"]))

    /// The refresh token that was used up, where the new one does not take its place: an account that was known by name alone
    /// has got its identifier, or its cloud another name to save under.
    private func supersededTokens(_ saving: Saving, in partition: Partition) -> [CacheChange] {
        guard case .redemption(let used) = saving.issuance, let new = saving.tokens.refreshToken, new != used.secret
        else { return [] }
        let owner = used.owner
        guard owner != saving.owner && owner.homeAccountID == nil || used.environment != saving.environment else {
            return []
        }
        return partition[owner].refreshTokens.values.filter { $0.secret == used.secret }.map(\.key).sorted()
            .map { remove(.refreshToken, $0, owner: owner, saving.parameters.sharingGroup) }
    }

    func remove(_ kind: RecordKind, _ key: String, owner: OwnerID?, _ group: SharingGroup) -> CacheChange {
        .remove(RecordKey(group: group.name, kind: kind, key: key), owner: owner)
    }
}

package import TokenModel
internal import TokenStore

/// What an import comes to: the steps to take, all or none of them, and what to say of it.
package struct ImportPlan: Sendable {
    package var changes: [CacheChange]
    package var report: ImportCache.Report
    /// The cache with all of the changes in it.
    package var cache: CredentialCache
}

extension CredentialCache {
    /// Holds a cache of another library against this one; nothing changes yet.
    ///
    /// What is known already changes nothing. A token that the cache holds gives way only to one that is not older: by the times
    /// that both sides wrote down, never by a guess.
    package func changes(importing foreign: ForeignCache, in group: SharingGroup) -> ImportPlan {
        var importing = Importing(foreign, into: self, group)
        importing.takeAccounts()
        importing.takeCredentials()
        importing.signIn()
        return importing.plan
    }
}

extension CredentialCache {
    /// The refresh tokens in the cache that `changes` would overwrite.
    package func refreshTokens(replacedBy changes: [CacheChange], in group: SharingGroup) -> [Secret] {
        let partition = partition(group)
        return changes.compactMap { change in
            guard case .save(.refreshToken(let token)) = change else { return nil }
            return partition[token.owner].refreshTokens[token.key]?.secret
        }
    }
}

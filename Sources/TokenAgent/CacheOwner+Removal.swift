internal import TokenCache
internal import TokenModel

extension CacheOwner {
    /// Signs an account out. From the moment this is called no reply hands out what is being removed.
    func removeAccount(_ request: RemoveAccount) -> Answer<RemoveAccount.Reply> {
        let changes = cache.changes(removing: request)
        guard !changes.isEmpty else { return .now(.success(RemoveAccount.Reply(removed: false))) }
        // Memory first: a redemption that comes back now finds its refresh token gone and saves nothing.
        cache.apply(changes, in: request.sharingGroup)
        return .later(
            later { owner async throws(TokenError) in
                try await owner.finish(changes, in: request.sharingGroup) { $0.changes(removing: request) }
                return RemoveAccount.Reply(removed: true)
            })
    }

    /// Removes one credential, in memory before on disk, as an account is signed out.
    func removeCredential(_ request: RemoveCredential) -> Answer<RemoveCredential.Reply> {
        let changes = cache.changes(removing: request)
        guard !changes.isEmpty else { return .now(.success(RemoveCredential.Reply(removed: false))) }
        cache.apply(changes, in: request.sharingGroup)
        return .later(
            later { owner async throws(TokenError) in
                try await owner.finish(changes, in: request.sharingGroup) { $0.changes(removing: request) }
                return RemoveCredential.Reply(removed: true)
            })
    }

    /// Writes a removal that is already true in memory. Tokens whose saving had begun before it have arrived when it is its
    /// turn: they go as well, also where nothing can be written.
    private func finish(
        _ changes: [CacheChange], in group: SharingGroup, late: (CredentialCache) -> [CacheChange]
    ) async throws(TokenError) {
        try await inTurn(group) { () async throws(TokenError) in
            let late = late(cache)
            cache.apply(late, in: group)
            try await commit(changes + late, in: group)
        }
    }
}

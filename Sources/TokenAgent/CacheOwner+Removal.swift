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
                try await owner.commit(changes, in: request.sharingGroup)
                // Tokens whose saving had begun before the removal have arrived by now: they go as well.
                while case let late = owner.cache.changes(removing: request), !late.isEmpty {
                    owner.cache.apply(late, in: request.sharingGroup)
                    try await owner.commit(late, in: request.sharingGroup)
                }
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
                try await owner.commit(changes, in: request.sharingGroup)
                return RemoveCredential.Reply(removed: true)
            })
    }
}

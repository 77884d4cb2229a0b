internal import TokenCache
internal import TokenModel

extension CacheOwner {
    /// The app's one account, and the one it was the last time; written down before the app hears of it, if that
    /// can be done: where it cannot, the next commit tries again, and the answer is the same.
    func currentAccount(_ request: GetCurrentAccount) -> Answer<GetCurrentAccount.Reply> {
        do throws(TokenError) {
            let (reply, changes) = try cache.currentAccount(request)
            guard !changes.isEmpty else { return .now(.success(reply)) }
            return .later(
                later { owner async throws(TokenError) in
                    try? await owner.commit(changes, in: request.sharingGroup)
                    return reply
                })
        } catch {
            return .now(.failure(error))
        }
    }
}

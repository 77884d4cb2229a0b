internal import TokenCache
internal import TokenModel

/// Answers with the only account that is signed in to an app, and records it for the app's next request.
///
/// What is recorded is found when no removal of the sharing group is in progress: the account of an earlier answer may have been removed
/// since. A request that changes no record waits for no other change.
///
/// Used on the actor of `CacheOwner` only.
final class CurrentAccounts {
    private typealias Found = (reply: GetCurrentAccount.Reply, changes: [CacheChange])

    private let reader: TokenReader
    private let commits: CommitQueue
    private let tasks: TaskTracker

    init(_ core: AgentCore) {
        (reader, commits, tasks) = (core.reader, core.commits, core.tasks)
    }

    /// The answer to a request. The account is recorded before it is available. If it cannot be written, the next commit tries again, and
    /// the answer is the same.
    func answer(_ request: GetCurrentAccount) -> Answer<GetCurrentAccount.Reply> {
        let rest: TokenReader.UnfinishedList?
        do throws(TokenError) {
            let first = try reader.find(in: request.sharingGroup, Self.search(for: request))
            if let found = first.value, found.changes.isEmpty { return .now(.success(found.reply)) }
            rest = first.value == nil ? first.rest : nil
        } catch {
            return .now(.failure(error))
        }
        return .later(
            tasks.start { () async throws(TokenError) in
                if let rest {
                    let found = try await self.reader.finish(rest, in: request.sharingGroup, Self.search(for: request))
                    if found.changes.isEmpty { return found.reply }
                }
                return try await self.record(request)
            })
    }

    /// Finds the account again and records it, in the turn of this change.
    private func record(_ request: GetCurrentAccount) async throws(TokenError) -> GetCurrentAccount.Reply {
        var reply: GetCurrentAccount.Reply?
        do throws(TokenError) {
            return try await commits.commit(changing: [], in: request.sharingGroup) {
                () async throws(TokenError) -> (CommitQueue.CacheCommit, GetCurrentAccount.Reply) in
                // A locked store has an empty cache, which has no account.
                if let refusal = commits.lockRefusal { throw refusal }
                let found = try await find(request)
                reply = found.reply
                return (CommitQueue.CacheCommit(changes: found.changes), found.reply)
            }
        } catch {
            guard let reply else { throw error }
            return reply
        }
    }

    private func find(_ request: GetCurrentAccount) async throws(TokenError) -> Found {
        let first = try reader.find(in: request.sharingGroup, Self.search(for: request))
        if let found = first.value { return found }
        return try await reader.finish(first.rest, in: request.sharingGroup, Self.search(for: request))
    }

    private static func search(
        for request: GetCurrentAccount
    ) -> (CredentialCache, inout ListedTokens) throws(TokenError) -> Found {
        { (cache: CredentialCache, tokens: inout ListedTokens) throws(TokenError) in
            try cache.currentAccount(request, &tokens)
        }
    }
}

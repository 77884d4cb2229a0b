package import TokenCache
package import TokenModel

/// What tests ask of a cache in which no token is unread.
extension CredentialCache {
    package func accounts(_ request: ListAccounts) -> ListAccounts.Reply {
        var tokens = ListedTokens(in: request.sharingGroup)
        return accounts(request, &tokens)
    }

    package func credentials(_ request: ListCredentials, localScheme: String) -> ListCredentials.Reply {
        var tokens = ListedTokens(in: request.sharingGroup)
        return credentials(request, localScheme: localScheme, &tokens)
    }

    package func currentAccount(
        _ request: GetCurrentAccount
    ) throws(TokenError) -> (reply: GetCurrentAccount.Reply, changes: [CacheChange]) {
        var tokens = ListedTokens(in: request.sharingGroup)
        return try currentAccount(request, &tokens)
    }
}

extension Partition {
    /// The accounts with their records.
    package var accounts: [AccountKey: AccountCredentials] {
        Dictionary(uniqueKeysWithValues: accountKeys.map { ($0, self[$0]) })
    }
}

package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The one account that is signed in to an app, the one it was before, and what there is to remember for the next time.
    ///
    /// - Throws: `ambiguousAccount` (-51200) when several are signed in.
    package func currentAccount(
        _ request: GetCurrentAccount
    ) throws(TokenError) -> (reply: GetCurrentAccount.Reply, changes: [CacheChange]) {
        let accounts = accounts(ListAccounts(clientID: request.clientID, sharingGroup: request.sharingGroup)).accounts
        guard accounts.count < 2 else {
            throw TokenError(
                .ambiguousAccount, "several accounts are signed in; list them and let the person choose one")
        }
        let key = PrincipalRecord.key(of: request.clientID.text)
        let known = partition(request.sharingGroup).principals[key]
        let reply = GetCurrentAccount.Reply(account: accounts.first, previous: known?.account)
        guard let account = accounts.first else {
            return (reply, known == nil ? [] : [remove(.principal, key, owner: nil, request.sharingGroup)])
        }
        let record = PrincipalRecord(clientID: request.clientID, account: account)
        return (reply, record == known ? [] : [.save(.principal(record))])
    }
}

package import TokenModel

extension CredentialCache {
    /// The accounts that fit, a page at a time, in an order that does not change while nothing changes.
    ///
    /// An account with more tenant profiles than fit into a page is repeated on the next, with the rest of them.
    package func accounts(_ request: ListAccounts) -> ListAccounts.Reply {
        let partition = partition(request.sharingGroup)
        let owners = candidates(request, in: partition).sorted { $0.key < $1.key }
        let start = request.after.map(AccountListPlace.init)
        var page = AccountPage()
        for owner in owners where start.map({ $0.isBefore(owner) }) ?? true {
            guard let account = account(of: owner, for: request, in: partition) else { continue }
            guard page.add(account, of: owner, from: start) else { break }
        }
        return page.reply
    }

    private func candidates(_ request: ListAccounts, in partition: Partition) -> [OwnerID] {
        if let identifier = request.homeAccountID { return [.home(identifier)] }
        if let username = request.username { return partition.owners(named: username) }
        return Array(partition.owners.keys)
    }

    /// The account with its tenant profiles; nil when it does not fit.
    private func account(of owner: OwnerID, for request: ListAccounts, in partition: Partition) -> Account? {
        let holdings = partition[owner]
        let records = holdings.orderedAccounts
        guard let first = records.first, isListed(owner, holdings, request, in: partition) else { return nil }
        var account = account(of: owner, record: first)
        var realms = Set<String>()
        account.tenantProfiles = records.filter { realms.insert($0.realm).inserted }.map { record in
            profile(of: record, idToken: idToken(of: record, holdings, for: request.clientID))
        }
        account.homeIDToken = account.tenantProfiles.first { $0.isHome }?.idToken
        if let username = request.username?.lowercased(), !holdings.names.contains(username) { return nil }
        if let local = request.localAccountID?.lowercased(),
            !records.contains(where: { $0.localAccountID == local })
        {
            return nil
        }
        return account
    }

    /// MSAL's rule: a refresh token of the app or its family, or a sign-in on record; never after a sign-out.
    private func isListed(
        _ owner: OwnerID, _ holdings: Holdings, _ request: ListAccounts, in partition: Partition
    ) -> Bool {
        // Tokens of nobody in particular, as AD FS gives them, make no account.
        if owner == .unnamed { return false }
        // An account known by name alone is the same as one of its cloud known by identifier, once that is known.
        if case .name(let name) = owner {
            let known = partition.owners(named: name).filter { $0.homeAccountID != nil }
            if known.contains(where: { sharesCloud(holdings, partition[$0]) }) { return false }
        }
        guard request.onlySignedIn, let clientID = request.clientID else { return true }
        switch holdings.metadata[clientID.key]?.signInState {
        case .signedOut: return false
        case .signedIn: return true
        case nil:
            return holdings.refreshTokens.values.contains { token in
                guard let family = token.familyID else { return token.clientID == clientID }
                return family == self.family(of: clientID, at: token.environment, in: partition)
            }
        }
    }

    private func sharesCloud(_ left: Holdings, _ right: Holdings) -> Bool {
        left.accounts.values.contains { one in
            right.accounts.values.contains { clouds.sameCloud(one.environment, $0.environment) }
        }
    }

    private func idToken(of record: AccountRecord, _ holdings: Holdings, for clientID: ClientID?) -> String? {
        guard let clientID else { return nil }
        return holdings.idTokens.values.filter { $0.clientID == clientID && $0.tenant == record.realm }
            .max { ($0.version.rawValue, $0.key) < ($1.version.rawValue, $1.key) }?.idToken
    }

    /// A page stays well below the longest reply, and below the longest list in a message.
    static let pageBytes = 256 * 1024
    static let pageItems = 200
}

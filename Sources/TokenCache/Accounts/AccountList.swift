package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The accounts that match a request, a page at a time, in a stable order.
    ///
    /// An account with more tenant profiles than fit into a page is repeated on the next page, with its other profiles. A page is
    /// also complete when a limited number of accounts has been examined, so that it may have no account and be followed by others.
    ///
    /// Accounts with a username that fit into one page are in the order in which the name means them (`orderOfNamesakes`).
    ///
    /// - Parameters:
    ///   - tokens: gets the ID tokens that have to be read from the store first; the page is of no use then.
    ///   - isIncluded: whether the list may have an account. Accounts of several identity providers may match one request.
    package func accounts(
        _ request: ListAccounts, _ tokens: inout ListedTokens, where isIncluded: (AccountKey) -> Bool = { _ in true }
    ) -> ListAccounts.Reply {
        let partition = partition(request.sharingGroup)
        let start = request.after.map(AccountListPosition.init)
        var page = AccountPage()
        var (examined, last) = (0, AccountKey?.none)
        let texts = TextPool()
        candidates(request, in: partition).forEach(from: start?.account) { _, key in
            guard start.map({ $0.isBefore(key) }) ?? true else { return true }
            guard examined < Self.examinedAccounts else {
                page.end(after: last)
                return false
            }
            examined += 1
            last = key
            guard isIncluded(key), let found = account(key, for: request, in: partition, tokens, texts) else {
                return true
            }
            guard page.add(found.account, key, from: start) else { return false }
            found.showIDTokens(ofLastOf: page.reply.accounts, &tokens)
            return page.hasRoom
        }
        guard request.username != nil, start == nil, page.hasRoom, page.keys.count > 1 else { return page.reply }
        let accounts = page.reply.accounts
        return ListAccounts.Reply(accounts: orderOfNamesakes(page.keys, in: partition).map { accounts[$0] })
    }

    /// The positions of accounts with one username in the order in which the name means them: work accounts, of which those without an
    /// identifier are last, before a personal one, which no ADAL app can mean; then the one that got a token last. A tenant has one user with
    /// a name at a time: the others are deleted, or have another name that the cache does not know yet.
    private func orderOfNamesakes(_ accounts: [AccountKey], in partition: Partition) -> [Int] {
        let places = accounts.enumerated().map { index, account in
            let held = partition.records(of: account, [.accessToken, .refreshToken])
            let rank = account.isPersonal ? 2 : account.homeAccountID == nil ? 1 : 0
            return (rank: rank, time: held.lastObtained, index: index)
        }
        return places.sorted { ($0.rank, $1.time, $0.index) < ($1.rank, $0.time, $1.index) }.map(\.index)
    }

    private func candidates(_ request: ListAccounts, in partition: Partition) -> SortedMap<AccountKey> {
        if let identifier = request.homeAccountID { return partition.sortedAccounts(with: identifier) }
        if let username = request.username { return partition.sortedAccounts(named: username) }
        // No other account has what `isListed` asks for.
        if let clientID = request.clientID, request.onlySignedIn,
            partition.holders.hasAccounts(of: clientID, atMost: Self.searchedAccounts)
        {
            return partition.holders.sortedAccounts(of: clientID)
        }
        return partition.order
    }

    /// The account with its tenant profiles; nil if it does not match the request.
    ///
    /// - Parameters:
    ///   - tokens: the ID tokens that have been read from the store.
    ///   - texts: shares texts with other accounts.
    func account(
        _ key: AccountKey, for request: ListAccounts, in partition: Partition, _ tokens: ListedTokens,
        _ texts: TextPool = TextPool(isShared: false)
    ) -> FoundAccount? {
        // The list of an app depends on its tokens, too. For the list of all apps, nothing is unpacked but what it shows.
        let app = request.clientID.map { (id: $0, credentials: partition.records(of: key, Self.kindsOfAnAppsList)) }
        let profiles =
            (app?.credentials.accounts.values.map(ListedProfile.init) ?? partition.profiles(of: key, texts)).inListOrder
        guard !profiles.isEmpty else { return nil }
        if let app, request.onlySignedIn,
            !isListed(app.credentials, for: app.id, in: partition, isConfined: request.isConfined)
        {
            return nil
        }
        guard hasNoKnownNamesake(key, profiles, for: request, in: partition) else { return nil }
        if let username = request.username?.lowercased(), !profiles.usernames.contains(username) { return nil }
        if let local = request.localAccountID?.lowercased(),
            !profiles.contains(where: { $0.profile.localAccountID == local })
        {
            return nil
        }
        var found = FoundAccount(account: profiles[0].account(key))
        found.account.tenantProfiles = profiles.withoutRepeatedRealms.map(\.profile)
        if let app { found.addIDTokens(app.credentials.idTokensByTenant(of: app.id), tokens) }
        return found
    }

    /// Whether the account is listed for an app, by MSAL's rule: it has a refresh token of the app or of its family, or the app is
    /// recorded as signed in; never after a sign-out.
    private func isListed(
        _ credentials: AccountCredentials, for clientID: ClientID, in partition: Partition, isConfined: Bool
    ) -> Bool {
        switch credentials.metadata[clientID.key]?.signInState {
        case .signedOut: return false
        case .signedIn: return true
        case nil:
            return credentials.refreshTokens.values.contains {
                belongs($0, to: clientID, in: partition, isConfined: isConfined)
            }
        }
    }

    /// Whether to list an account that is known by its username only; true for other accounts.
    ///
    /// It is not listed if AD FS has issued its tokens without naming a user, or if an account of its cloud with the same name has an
    /// identifier, and either is listed as well or was signed out of by the app. A personal account is another user's.
    private func hasNoKnownNamesake(
        _ account: AccountKey, _ profiles: [ListedProfile], for request: ListAccounts, in partition: Partition
    ) -> Bool {
        guard account.name != nil else { return true }
        if account.isUnnamed { return false }
        let environments = Set(profiles.map(\.environment))
        var isKnown = false
        forEachNamesake(of: account, in: partition) { other in
            isKnown =
                mayBe(other, anAccountAt: environments, in: partition)
                && isKnownToApp(other, of: request, in: partition)
            return !isKnown
        }
        return !isKnown
    }

    /// Calls `body` with the accounts of an issuer that have an identifier, and the name of one that has none, until it returns false; of
    /// many, with the first ones only. There are none for an account that has an identifier.
    func forEachNamesake(of account: AccountKey, in partition: Partition, _ body: (AccountKey) -> Bool) {
        guard let name = account.name else { return }
        var examined = 0
        partition.sortedAccounts(named: name).forEach(from: nil) { _, other in
            guard other.issuer == account.issuer, other.homeAccountID != nil else { return true }
            examined += 1
            return body(other) && examined < Self.examinedAccounts
        }
    }

    /// Whether an account may be that of its namesake at hosts. A personal account is another user's.
    func mayBe(_ account: AccountKey, anAccountAt environments: Set<String>, in partition: Partition) -> Bool {
        !account.isPersonal
            && partition.profiles(of: account).contains { one in
                environments.contains { clouds.sameCloud(one.environment, $0) }
            }
    }

    /// Whether the list has an account, or does not because the app has signed out of it.
    private func isKnownToApp(_ account: AccountKey, of request: ListAccounts, in partition: Partition) -> Bool {
        guard let clientID = request.clientID, request.onlySignedIn else { return true }
        let credentials = partition.records(of: account, Self.kindsOfAnAppsList)
        return credentials.isSignedOut(clientID)
            || isListed(credentials, for: clientID, in: partition, isConfined: request.isConfined)
    }

    /// The kinds of records that the list of an app depends on.
    private static let kindsOfAnAppsList: Set<RecordKind> = [.account, .accountMetadata, .refreshToken, .idToken]
    /// The size of a page in bytes; far below the longest reply.
    static let pageBytes = 256 * 1024
    /// The number of items on a page; below the longest list in a message. A page is built in one go, while no other app is served:
    /// more pages are better than longer ones.
    static let pageItems = 32
    /// The number of accounts that are examined for a page.
    static let examinedAccounts = 50
}

extension CredentialCache {
    /// The only account that is signed in to an app, the app's current account before this call, and the changes that record
    /// the new one.
    ///
    /// - Parameters:
    ///   - tokens: gets the ID tokens that have to be read from the store first; the reply is of no use then.
    ///   - isIncluded: whether the account may be the current one.
    /// - Throws: `ambiguousAccount` (-51200) if several accounts are signed in.
    package func currentAccount(
        _ request: GetCurrentAccount, _ tokens: inout ListedTokens,
        where isIncluded: (AccountKey) -> Bool = { _ in true }
    ) throws(TokenError) -> (reply: GetCurrentAccount.Reply, changes: [CacheChange]) {
        let partition = partition(request.sharingGroup)
        var list = ListAccounts(clientID: request.clientID, sharingGroup: request.sharingGroup)
        list.isConfined = request.isConfined
        var (accounts, last) = ([Account](), AccountKey?.none)
        let isOne =
            partition.holders.hasAccounts(of: request.clientID, atMost: Self.searchedAccounts)
            && partition.holders.forEachAccount(of: request.clientID) { holder in
                guard holder != last, isIncluded(holder),
                    let found = account(holder, for: list, in: partition, tokens)
                else { return true }
                accounts.append(found.account)
                found.showIDTokens(ofLastOf: accounts, &tokens)
                last = holder
                return accounts.count < 2
            }
        guard isOne else {
            throw TokenError(
                .ambiguousAccount, "several accounts are signed in; list them and let the person choose one")
        }
        let key = CurrentAccountRecord.key(of: request.clientID.text)
        let known = partition.currentAccounts[key]
        let reply = GetCurrentAccount.Reply(account: accounts.first, previous: known?.account)
        guard let account = accounts.first else {
            return (reply, known == nil ? [] : [remove(.currentAccount, key, account: nil, request.sharingGroup)])
        }
        // An app with a client ID that may not be stored gets no token, so that its account need not be remembered.
        guard ValueLimits.isIdentifier(request.clientID.text) else { return (reply, []) }
        let record = CurrentAccountRecord(clientID: request.clientID, account: account)
        guard record != known else { return (reply, []) }
        let surplus =
            known == nil ? partition.surplus(of: partition.currentAccounts.values.map { ($0.clientID, $0.key) }) : []
        let removals = surplus.map { remove(.currentAccount, $0, account: nil, request.sharingGroup) }
        return (reply, removals + [.save(.currentAccount(record))])
    }
}

/// An account of a list, and the ID tokens that it lacks because they are in the store only.
struct FoundAccount {
    var account: Account
    /// The ID tokens that have to be read, by the realms of their tenant profiles.
    fileprivate var unread: [ExactText: IDTokenRecord] = [:]

    /// Adds the ID tokens of the tenant profiles.
    fileprivate mutating func addIDTokens(_ idTokens: [ExactText: IDTokenRecord], _ tokens: ListedTokens) {
        for index in account.tenantProfiles.indices {
            let realm = ExactText(account.tenantProfiles[index].realm)
            guard let known = idTokens[realm].flatMap(tokens.completed) else { continue }
            if known.isUnread { unread[realm] = known }
            account.tenantProfiles[index].idToken = known.idToken
        }
        account.homeIDToken = account.tenantProfiles.first { $0.isHome }?.idToken
    }

    /// Notes that a list, whose last account is this one, shows the ID tokens of the home tenant and of the tenant profiles that are on it.
    fileprivate func showIDTokens(ofLastOf accounts: [Account], _ tokens: inout ListedTokens) {
        guard !unread.isEmpty, let listed = accounts.last else { return }
        for profile in listed.tenantProfiles + account.tenantProfiles.filter(\.isHome).prefix(1) {
            if let token = unread[ExactText(profile.realm)] { tokens.show(.idToken(token)) }
        }
    }
}

/// The position at which a list of accounts continues: after an account, or after one of its tenant profiles.
private struct AccountListPosition {
    let account: String
    /// The last profile that was listed; nil if all were.
    private let profile: String?

    /// Reads the `next` of a reply.
    init(_ text: String) {
        // No identifier has a line break.
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        account = parts[0]
        profile = parts.count > 1 ? parts[1] : nil
    }

    static func after(_ account: AccountKey) -> String { account.key }

    static func after(_ profile: TenantProfile, of account: AccountKey) -> String {
        "\(account.key)\n\(key(profile))"
    }

    /// Whether the account, or some of its profiles, are still to be listed.
    func isBefore(_ account: AccountKey) -> Bool {
        self.account.precedes(account.key) || isWithin(account)
    }

    /// Whether only some profiles of the account have been listed.
    func isWithin(_ account: AccountKey) -> Bool { profile != nil && account.key.hasSameBytes(as: self.account) }

    /// Whether a profile of that account is still to be listed.
    func isBefore(_ listed: TenantProfile) -> Bool { profile?.precedes(Self.key(listed)) ?? true }

    /// Sorts as an account's profiles do: the home tenant's first, then by realm.
    private static func key(_ profile: TenantProfile) -> String { "\(profile.isHome ? 0 : 1)\(profile.realm)" }
}

/// A page of accounts, filled up to the size of one reply.
private struct AccountPage {
    private(set) var reply = ListAccounts.Reply(accounts: [])
    /// The accounts of the reply.
    private(set) var keys: [AccountKey] = []
    private var size = 0

    /// Ends the page early, after an account that is not necessarily on it.
    mutating func end(after account: AccountKey?) {
        if reply.next == nil { reply.next = account.map(AccountListPosition.after) }
    }

    /// Whether another account may be added.
    var hasRoom: Bool { reply.next == nil }

    /// Adds an account: all of its profiles, or as many as fit if the page is empty.
    ///
    /// - Returns: whether the page had room for it.
    mutating func add(_ account: consuming Account, _ key: AccountKey, from start: AccountListPosition?) -> Bool {
        if let start, start.isWithin(key) { account.tenantProfiles.removeAll { !start.isBefore($0) } }
        let needed = account.tenantProfiles.reduce(account.approximateSize) { $0 + $1.approximateSize }
        let fits =
            size + needed <= CredentialCache.pageBytes && account.tenantProfiles.count <= CredentialCache.pageItems
        guard fits || reply.accounts.isEmpty, reply.accounts.count < CredentialCache.pageItems else {
            reply.next = keys.last.map(AccountListPosition.after)
            return false
        }
        if !fits { truncateProfiles(of: &account, key) }
        reply.accounts.append(account)
        keys.append(key)
        size += needed
        return true
    }

    /// Keeps as many profiles as fit, at least one.
    private mutating func truncateProfiles(of account: inout Account, _ key: AccountKey) {
        var (size, count) = (account.approximateSize, 0)
        for profile in account.tenantProfiles.prefix(CredentialCache.pageItems) {
            size += profile.approximateSize
            guard count == 0 || size <= CredentialCache.pageBytes else { break }
            count += 1
        }
        guard count < account.tenantProfiles.count else { return }
        account.tenantProfiles.removeSubrange(count...)
        reply.next = account.tenantProfiles.last.map { AccountListPosition.after($0, of: key) }
    }
}

extension AccountCredentials {
    /// The ID tokens of an app by the tenants that issued them, and by the realms under which they are saved if no token is of a tenant with
    /// that name: what an AD FS or an OpenID provider names as the tenant is not the realm of the account. Of several, v2 is preferred,
    /// and then the one with the last key.
    fileprivate func idTokensByTenant(of clientID: ClientID) -> [ExactText: IDTokenRecord] {
        typealias Preferred = [ExactText: (key: String, token: IDTokenRecord)]
        func offer(_ token: IDTokenRecord, _ key: String, as name: String, in preferred: inout Preferred) {
            let name = ExactText(name)
            if let other = preferred[name], (token.version.rawValue, key) < (other.token.version.rawValue, other.key) {
                return
            }
            preferred[name] = (key, token)
        }
        var (ofTenants, ofRealms) = (Preferred(), Preferred())
        for (key, token) in idTokens where token.clientID == clientID {
            offer(token, key, as: token.tenant, in: &ofTenants)
            if !token.realm.hasSameBytes(as: token.tenant) { offer(token, key, as: token.realm, in: &ofRealms) }
        }
        return ofTenants.merging(ofRealms) { tenants, _ in tenants }.mapValues(\.token)
    }
}

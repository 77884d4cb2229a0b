internal import TokenModel

/// The account that a silent request refers to.
enum RequestedAccount {
    /// - dependsOnTime: whether an equal request may refer to another account later, although the cache is the same.
    case one(AccountKey, dependsOnTime: Bool)
    case several
    case none
}

extension CredentialCache {
    /// Finds the account that a silent request refers to: by identifier, else by username, else the only account that is usable.
    func account(for request: AcquireTokenSilent, in partition: Partition, now: Int64) -> RequestedAccount {
        if let identifier = request.account.homeAccountID {
            let account = accountKey(.home(identifier), at: request.parameters.authority, in: partition)
            return .one(account, dependsOnTime: false)
        }
        var searched = SearchedAccounts(partition)
        if let name = request.account.username { return account(named: name, request, in: &searched, now: now) }
        return soleAccount(for: request, in: &searched, now: now)
    }

    /// The account with a username, among those of the issuer, for which this app can get a token. Two people with one
    /// username are ambiguous, unless the app can get a token for one of them only, or ADAL can mean one of them only.
    ///
    /// ADAL looks for an access token before it looks for refresh tokens, and uses one that AD FS issued without naming
    /// a user for every username.
    private func account(
        named name: String, _ request: AcquireTokenSilent, in searched: inout SearchedAccounts, now: Int64
    ) -> RequestedAccount {
        let partition = searched.partition
        guard partition.accountCount(named: name) <= Self.searchedAccounts else { return .several }
        let authority = request.parameters.authority
        let accounts = accounts(named: name, at: authority, in: partition)
        var dependsOnTime = false
        if request.parameters.version == .v1 {
            let unnamed = accountKey(.name(""), at: authority, in: partition)
            let holders = meant(
                (accounts + [unnamed]).filter {
                    holdsItem($0, searched.records(of: $0), for: request, in: partition, now: now, &dependsOnTime)
                }, by: request.parameters, &searched)
            if let holder = holders.first {
                return Self.isAmbiguous(holders) ? .several : .one(holder, dependsOnTime: dependsOnTime)
            }
        }
        let usable = meant(
            accounts.filter { isUsable($0, searched.records(of: $0), for: request.parameters, in: partition) },
            by: request.parameters, &searched)
        if Self.isAmbiguous(usable) { return .several }
        guard let account = usable.first ?? accounts.first else { return .none }
        return .one(account, dependsOnTime: dependsOnTime)
    }

    /// Of accounts with one username, those that the authority is for; of these, those that an app of ADAL can mean, which knows no
    /// identifiers.
    ///
    /// For ADAL, a tenant's own user comes before a guest of it. Of several users of one tenant it is the one who got a token last: a tenant
    /// has one user with a name at a time, so that the others are deleted users.
    private func meant(
        _ accounts: [AccountKey], by parameters: TokenParameters, _ searched: inout SearchedAccounts
    ) -> [AccountKey] {
        guard accounts.count > 1, parameters.authority.kind == .entra else { return accounts }
        // An account that is known by its username only is not a personal one, which apps of MSAL name by its identifier.
        let isPersonal = Self.meansPersonalAccounts(parameters) ?? (accounts.contains { $0.name != nil } ? false : nil)
        let audience = accounts.filter { isPersonal == nil || $0.isPersonal == isPersonal }
        let meant = audience.isEmpty ? accounts : audience
        guard parameters.version == .v1, Self.isAmbiguous(meant) else { return meant }
        let realm = parameters.authority.realm.lowercased()
        var users = meant.filter { $0.homeAccountID != nil }
        let members = users.filter { $0.homeAccountID?.tenantID == realm }
        if !members.isEmpty { users = members }
        if Set(users.map { $0.homeAccountID?.tenantID }).count == 1 {
            let times = users.map { (time: searched.records(of: $0).lastObtained, account: $0) }
            users = times.max { ($0.time, $0.account.key) < ($1.time, $1.account.key) }.map { [$0.account] } ?? []
        }
        return meant.filter { $0.homeAccountID == nil || users.contains($0) }
    }

    /// Whether a request without an identifier means personal accounts, or others; nil for either. The v1 endpoint has no personal accounts.
    private static func meansPersonalAccounts(_ parameters: TokenParameters) -> Bool? {
        guard parameters.authority.kind == .entra else { return nil }
        return parameters.authority.isForPersonalAccounts ?? (parameters.version == .v1 ? false : nil)
    }

    /// Whether there are several accounts with identifiers. One that is known by its username is one of them.
    private static func isAmbiguous(_ accounts: [AccountKey]) -> Bool {
        accounts.count { $0.homeAccountID != nil } > 1
    }

    /// The only usable account. ADAL counts each kind of token separately: refresh tokens of two accounts are not ambiguous if
    /// only one of the accounts has an access token.
    ///
    /// ADAL does not know accounts that only MSAL apps signed in to. The only one of them is used, of which a personal one counts only if
    /// there is no other one; several count as none.
    ///
    /// Only the accounts are searched that have tokens of the app or of a family, until two are found; if there are very many, they
    /// count as several.
    private func soleAccount(
        for request: AcquireTokenSilent, in searched: inout SearchedAccounts, now: Int64
    ) -> RequestedAccount {
        let (parameters, partition) = (request.parameters, searched.partition)
        guard partition.holders.hasAccounts(of: parameters.clientID, atMost: Self.searchedAccounts) else {
            return .several
        }
        func isUsable(_ account: AccountKey, _ held: AccountCredentials) -> Bool {
            isAccount(account, of: parameters.authority, in: partition)
                && self.isUsable(account, held, for: parameters, in: partition)
        }
        if parameters.version == .v1 {
            let steps: [(AccountKey, AccountCredentials) -> Bool] = [
                { hasItem($0, $1, for: parameters, in: partition) },
                { account, held in
                    refreshTokens(of: account, held, for: parameters, in: partition).contains { $0.familyID == nil }
                },
                { _, _ in true },
            ]
            for step in steps {
                var name: String?
                let isOne = partition.holders.forEachAccount(of: parameters.clientID) { account in
                    let held = searched.records(of: account)
                    guard step(account, held), held.isKnownToADAL, isUsable(account, held) else { return true }
                    let userID = held.adalUserID
                    defer { name = userID }
                    return name == nil || name == userID
                }
                guard isOne else { return .several }
                if let name { return account(named: name, request, in: &searched, now: now) }
            }
        }
        // Accounts that the authority is not for count only if no other one is usable.
        let searches: [Bool?] = Self.meansPersonalAccounts(parameters).map { [$0, nil] } ?? [nil]
        for isPersonal in searches {
            var sole: AccountKey?
            let isOne = partition.holders.forEachAccount(of: parameters.clientID) { account in
                guard account != sole, isPersonal == nil || account.isPersonal == isPersonal,
                    isUsable(account, searched.records(of: account))
                else { return true }
                defer { sole = account }
                return sole == nil
            }
            guard isOne else { return parameters.version == .v1 ? .none : .several }
            if let sole { return .one(sole, dependsOnTime: false) }
        }
        return .none
    }

    /// The maximum number of accounts that are searched for a request that does not identify one.
    static var searchedAccounts: Int { 256 }

    /// Whether the account has what ADAL calls an item of the resource: an access token, or a refresh token for that resource only.
    private func hasItem(
        _ account: AccountKey, _ held: AccountCredentials, for parameters: TokenParameters, in partition: Partition
    ) -> Bool {
        hasAccessToken(account, held, for: parameters, at: parameters.authority)
            || refreshTokens(of: account, held, for: parameters, in: partition).contains { $0.isSingleResource }
    }

    /// Whether the account has such an item that has not expired.
    ///
    /// - Parameter dependsOnTime: set to true if that may be so later although it is not now.
    private func holdsItem(
        _ account: AccountKey, _ held: AccountCredentials, for request: AcquireTokenSilent, in partition: Partition,
        now: Int64, _ dependsOnTime: inout Bool
    ) -> Bool {
        let parameters = request.parameters
        guard !held.isSignedOut(parameters.clientID) else { return false }
        let allowsCachedToken = !request.forceRefresh && parameters.claims == nil
        if allowsCachedToken,
            hasAccessToken(
                account, held, for: parameters, at: parameters.authority,
                where: { token in
                    // The clock was set back; see `AccessTokenRecord.isExpired`.
                    if token.cachedAt > now { dependsOnTime = true }
                    return !token.isExpired(at: now, buffer: token.buffer(for: request))
                })
        {
            return true
        }
        return refreshTokens(of: account, held, for: parameters, in: partition).contains { $0.isSingleResource }
    }

    private func hasAccessToken(
        _ account: AccountKey, _ held: AccountCredentials, for parameters: TokenParameters, at authority: Authority,
        where isMatch: (AccessTokenRecord) -> Bool = { _ in true }
    ) -> Bool {
        guard let query = AccessTokenQuery(parameters, at: authority, of: account) else { return false }
        return held.accessToken(answering: query, clouds, where: isMatch) != nil
    }

    private func refreshTokens(
        of account: AccountKey, _ held: AccountCredentials, for parameters: TokenParameters, in partition: Partition
    ) -> [RefreshTokenRecord] {
        let authority = effectiveAuthority(of: parameters, account: account, credentials: held)
        return refreshTokens(for: parameters, at: authority, credentials: held, in: partition)
    }

    private func isUsable(
        _ account: AccountKey, _ held: AccountCredentials, for parameters: TokenParameters, in partition: Partition
    ) -> Bool {
        guard !held.isSignedOut(parameters.clientID) else { return false }
        let authority = effectiveAuthority(of: parameters, account: account, credentials: held)
        return !refreshTokens(for: parameters, at: authority, credentials: held, in: partition).isEmpty
            || hasAccessToken(account, held, for: parameters, at: authority)
    }
}

/// The accounts that are searched for a request. A packed account is unpacked once, however often it is looked at.
struct SearchedAccounts {
    let partition: Partition
    /// The records of the packed accounts that have been looked at.
    private(set) var unpacked: [AccountKey: AccountCredentials] = [:]

    init(_ partition: Partition) { self.partition = partition }

    mutating func records(of account: AccountKey) -> AccountCredentials {
        if let held = partition.unpackedRecords(of: account) { return held }
        if let held = unpacked[account] { return held }
        let held = partition[account]
        unpacked[account] = held
        return held
    }
}

extension AccountCredentials {
    /// The user ID under which ADAL saves the account's tokens; empty for a sign-in without a user.
    package var adalUserID: String { orderedAccounts.first.map { $0.adalUserID ?? $0.username.lowercased() } ?? "" }

    /// Whether an app that uses ADAL signed in to the account.
    fileprivate var isKnownToADAL: Bool {
        accounts.values.contains { $0.source == AccountRecord.adalSource }
            || idTokenIndex.index?.hasV1Tokens ?? idTokens.values.contains { $0.version == .v1 }
    }
}

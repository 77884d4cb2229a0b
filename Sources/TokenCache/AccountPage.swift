internal import TokenModel

/// Where a list of accounts goes on: after an account, or after one of its tenant profiles.
struct AccountListPlace {
    private let owner: String
    /// The last profile that was listed; nil when all were.
    private let profile: String?

    /// Reads what a reply gave as its `next`.
    init(_ text: String) {
        // No identifier has a line break.
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        owner = parts[0]
        profile = parts.count > 1 ? parts[1] : nil
    }

    static func after(_ owner: OwnerID) -> String { owner.key }

    static func after(_ profile: TenantProfile, of owner: OwnerID) -> String { "\(owner.key)\n\(key(profile))" }

    /// Whether the list has something of this account left to show.
    func isBefore(_ owner: OwnerID) -> Bool { owner.key > self.owner || owner.key == self.owner && profile != nil }

    /// Whether the list has this profile left to show.
    func isBefore(_ profile: TenantProfile, of owner: OwnerID) -> Bool {
        guard owner.key == self.owner, let last = self.profile else { return true }
        return Self.key(profile) > last
    }

    /// In the order of an account's profiles: the home tenant's first, then by realm.
    private static func key(_ profile: TenantProfile) -> String { "\(profile.isHome ? 0 : 1)\(profile.realm)" }
}

/// A page of accounts, filled as far as one reply can hold it.
struct AccountPage {
    private(set) var reply = ListAccounts.Reply(accounts: [])
    private var last: OwnerID?
    private var size = 0

    /// Adds an account, whole or, at the beginning of a page, as much of it as fits.
    ///
    /// - Returns: whether there is room for another.
    mutating func add(_ account: Account, of owner: OwnerID, from start: AccountListPlace?) -> Bool {
        var account = account
        if let start { account.tenantProfiles.removeAll { !start.isBefore($0, of: owner) } }
        let needed = account.tenantProfiles.reduce(account.approximateSize) { $0 + $1.approximateSize }
        let fits =
            size + needed <= CredentialCache.pageBytes && account.tenantProfiles.count <= CredentialCache.pageItems
        guard fits || reply.accounts.isEmpty, reply.accounts.count < CredentialCache.pageItems else {
            reply.next = last.map(AccountListPlace.after)
            return false
        }
        if !fits { cut(&account, of: owner) }
        reply.accounts.append(account)
        last = owner
        size += needed
        return reply.next == nil
    }

    /// Leaves as many profiles as fit, and at least one.
    private mutating func cut(_ account: inout Account, of owner: OwnerID) {
        var (size, count) = (account.approximateSize, 0)
        for profile in account.tenantProfiles.prefix(CredentialCache.pageItems) {
            size += profile.approximateSize
            guard count == 0 || size <= CredentialCache.pageBytes else { break }
            count += 1
        }
        guard count < account.tenantProfiles.count else { return }
        account.tenantProfiles.removeSubrange(count...)
        reply.next = account.tenantProfiles.last.map { AccountListPlace.after($0, of: owner) }
    }
}

extension Account {
    /// How many bytes of a message it takes without its profiles, or a few more.
    fileprivate var approximateSize: Int {
        128 + (homeAccountID?.text.utf8.count ?? 0) + (username?.utf8.count ?? 0) + environment.utf8.count
            + (homeIDToken?.utf8.count ?? 0)
    }
}

extension TenantProfile {
    fileprivate var approximateSize: Int {
        128 + realm.utf8.count + (localAccountID?.utf8.count ?? 0) + (username?.utf8.count ?? 0)
            + environment.utf8.count
            + (idToken?.utf8.count ?? 0)
    }
}

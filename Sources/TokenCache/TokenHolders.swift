internal import TokenModel

/// The accounts that have tokens of an app or of a family of apps, so that a request that names no account, and the list of an app, do not
/// search all of them. A sign-in or a sign-out that is recorded for an app counts as a token.
struct TokenHolders: Sendable, Equatable {
    /// The number of tokens of each account, by the app's `ClientID.key`; no number is 0.
    private var apps: [String: [AccountKey: Int]] = [:]
    /// The number of tokens of each account that a family of apps shares.
    private var families: [FamilyID: [AccountKey: Int]] = [:]

    /// Counts a record that has been added, or one that has been removed. Records that are no tokens do not count.
    mutating func count(_ record: CacheRecord, isAdded: Bool) {
        switch record {
        case .accessToken(let token): Self.count(token.account, isAdded, in: &apps[token.clientID.key])
        case .refreshToken(let token):
            if let family = token.familyID {
                Self.count(token.account, isAdded, in: &families[family])
            } else {
                Self.count(token.account, isAdded, in: &apps[token.clientID.key])
            }
        case .accountMetadata(let metadata):
            Self.count(metadata.account, isAdded, in: &apps[metadata.clientID.lowercased()])
        default: break
        }
    }

    /// The number of accounts that have tokens of an app's own.
    func accountCount(ofApp clientID: ClientID) -> Int { apps[clientID.key]?.count ?? 0 }

    /// Whether at most `limit` accounts have tokens of an app or of any family.
    func hasAccounts(of clientID: ClientID, atMost limit: Int) -> Bool {
        guard families.count <= limit else { return false }
        let groups = groups(of: clientID)
        if groups.reduce(0, { $0 + $1.count }) <= limit { return true }
        guard groups.allSatisfy({ $0.count <= limit }) else { return false }
        return groups.reduce(into: Set<AccountKey>()) { $0.formUnion($1.keys) }.count <= limit
    }

    /// Calls `body` with each account that has tokens of an app or of any family, in any order, until it returns false. An account may
    /// come more than once.
    ///
    /// - Returns: whether `body` has always returned true.
    func forEachAccount(of clientID: ClientID, _ body: (AccountKey) -> Bool) -> Bool {
        groups(of: clientID).allSatisfy { $0.keys.allSatisfy(body) }
    }

    /// The accounts that have tokens of an app or of any family, in the order of `Partition.order`.
    func sortedAccounts(of clientID: ClientID) -> SortedMap<AccountKey> {
        var sorted = SortedMap<AccountKey>()
        for group in groups(of: clientID) {
            for account in group.keys { sorted[account.key] = account }
        }
        return sorted
    }

    private func groups(of clientID: ClientID) -> [[AccountKey: Int]] {
        (apps[clientID.key].map { [$0] } ?? []) + families.values
    }

    private static func count(_ account: AccountKey, _ isAdded: Bool, in accounts: inout [AccountKey: Int]?) {
        let count = (accounts?[account] ?? 0) + (isAdded ? 1 : -1)
        if accounts == nil { accounts = [:] }
        accounts?[account] = count > 0 ? count : nil
        if accounts?.isEmpty == true { accounts = nil }
    }
}

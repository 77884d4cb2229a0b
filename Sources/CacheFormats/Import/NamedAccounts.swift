internal import TokenCache
internal import TokenModel

/// The accounts with the usernames of a file's entries that have no identifier, indexed by what such an entry says: looking at all
/// accounts of the username for each entry would take a time that is quadratic in the number of accounts.
///
/// The results are those of a search of `Partition.accounts(named:of:)`.
struct NamedAccounts {
    /// A username of an issuer, in lower case.
    private struct Name: Hashable {
        let issuer: Issuer
        let text: String

        init(_ text: String, of issuer: Issuer) { (self.issuer, self.text) = (issuer, text.lowercased()) }
    }

    /// What identifies an account of an issuer as a user of a tenant's directory.
    private enum Trait: Hashable {
        case identifier(Issuer, String)
        case user(Issuer, ForeignCache.DirectoryUser)
    }

    /// The accounts with a username.
    private struct Namesakes {
        var all = SortedMap<AccountKey>()
        /// The accounts that are not personal, by the hosts under which their records are saved.
        var byEnvironment: [String: Set<AccountKey>] = [:]
    }

    /// The usernames and the hosts of an account's records.
    private struct Facts {
        var names: Set<Name> = []
        var environments: Set<String> = []
    }

    /// The namesakes of every username of the file's entries without an identifier, and of no other.
    private var namesakes: [Name: Namesakes] = [:]
    private var accounts: [Trait: SortedMap<AccountKey>] = [:]
    /// The accounts that are indexed.
    private var facts: [AccountKey: Facts] = [:]

    init(_ foreign: ForeignCache, in partition: Partition) {
        for entry in foreign.entries { expect(entry.record.header.account) }
        for holder in foreign.obtained.keys { expect(holder.account) }
        for name in Set(namesakes.keys.map(\.text)) {
            for account in partition.accounts(named: name)
            where facts[account] == nil && namesakes[Name(name, of: account.issuer)] != nil {
                add(account, partition[account])
            }
        }
    }

    private mutating func expect(_ account: AccountKey?) {
        guard let account, let name = account.name else { return }
        namesakes[Name(name, of: account.issuer)] = Namesakes()
    }

    /// Whether no entry of the file needs the index, which then stays empty.
    var isEmpty: Bool { namesakes.isEmpty }

    // MARK: Changes

    /// Adds an account record that an import has saved.
    ///
    /// - Parameters:
    ///   - old: the record that it has replaced, whose host, realm and local account ID it has.
    ///   - credentials: the records of the account, of which it is one already.
    mutating func add(_ record: AccountRecord, replacing old: AccountRecord?, among credentials: AccountCredentials) {
        let account = record.account
        guard facts[account] != nil else {
            if Self.names(of: record).contains(where: { namesakes[$0] != nil }) { add(account, credentials) }
            return
        }
        add(record, of: account)
        guard let old else { return }
        for name in Self.names(of: old).subtracting(Self.names(of: record)) {
            let isStillNamed = credentials.accounts.values.contains { Self.names(of: $0).contains(name) }
            if !isStillNamed { remove(name, from: account) }
        }
    }

    private static func names(of record: AccountRecord) -> Set<Name> {
        Set(record.names.map { Name($0, of: record.account.issuer) })
    }

    private mutating func add(_ account: AccountKey, _ credentials: AccountCredentials) {
        facts[account] = Facts()
        if let identifier = account.homeAccountID {
            accounts[.identifier(account.issuer, identifier.text), default: SortedMap()][account.key] = account
        }
        for record in credentials.accounts.values { add(record, of: account) }
    }

    private mutating func add(_ record: AccountRecord, of account: AccountKey) {
        if account.homeAccountID != nil, let objectID = record.localAccountID {
            let user = ForeignCache.DirectoryUser(tenantID: record.realm, objectID: objectID)
            accounts[.user(account.issuer, user), default: SortedMap()][account.key] = account
        }
        for name in Self.names(of: record) {
            guard facts[account]?.names.insert(name).inserted == true else { continue }
            namesakes[name]?.all[account.key] = account
            for environment in facts[account]?.environments ?? [] { add(account, named: name, at: environment) }
        }
        if facts[account]?.environments.insert(record.environment).inserted == true {
            for name in facts[account]?.names ?? [] { add(account, named: name, at: record.environment) }
        }
    }

    private mutating func add(_ account: AccountKey, named name: Name, at environment: String) {
        guard !account.isPersonal else { return }
        namesakes[name]?.byEnvironment[environment, default: []].insert(account)
    }

    private mutating func remove(_ name: Name, from account: AccountKey) {
        facts[account]?.names.remove(name)
        namesakes[name]?.all[account.key] = nil
        for environment in facts[account]?.environments ?? [] {
            namesakes[name]?.byEnvironment[environment]?.remove(account)
        }
    }

    // MARK: Searches

    /// The identifier of the first account with a username that is a user of a tenant's directory: by its identifier, or by one of
    /// its records.
    func identifier(
        of user: ForeignCache.DirectoryUser, named name: String, _ issuer: Issuer
    ) -> HomeAccountID? {
        guard let named = namesakes[Name(name, of: issuer)]?.all else { return nil }
        let traits: [Trait] = [.identifier(issuer, "\(user.objectID).\(user.tenantID)"), .user(issuer, user)]
        let found = traits.compactMap { accounts[$0] }.compactMap { Self.first(of: $0, and: named) }
        return found.min { $0.key.precedes($1.key) }?.homeAccountID
    }

    /// The identifier of the only account with a username in a cloud that is not personal; nil if there are several.
    func soleIdentifier(
        named name: String, of issuer: Issuer, at environment: String, _ clouds: CloudDirectory
    ) -> HomeAccountID? {
        var found: Set<AccountKey> = []
        for (saved, accounts) in namesakes[Name(name, of: issuer)]?.byEnvironment ?? [:]
        where clouds.sameCloud(saved, environment) {
            found.formUnion(accounts.prefix(2))
            guard found.count < 2 else { return nil }
        }
        return found.first?.homeAccountID
    }

    /// The first account that is in both.
    private static func first(of left: SortedMap<AccountKey>, and right: SortedMap<AccountKey>) -> AccountKey? {
        let (few, many) = left.count <= right.count ? (left, right) : (right, left)
        var first: AccountKey?
        few.forEach { key, account in
            guard many[key] != nil else { return true }
            first = account
            return false
        }
        return first
    }
}

package import TokenModel
package import TokenStore

/// The credentials of every account in memory, with the rules for finding, saving and removing them.
///
/// A pure value without I/O: the time is a parameter, and a method that changes records returns the changes for the caller to
/// write and apply.
package struct CredentialCache: Sendable, Equatable {
    /// The host names of each cloud.
    package var clouds = CloudDirectory()
    private(set) var partitions: [SharingGroup: Partition] = [:]

    package init() {}

    /// Adds a record from the store. Of two access tokens that answer the same requests the newer one is kept: earlier versions
    /// stored one for each order of the scopes.
    ///
    /// - Parameter key: the record's key, if it is known.
    /// - Returns: whether the record was added.
    @discardableResult
    package mutating func load(_ record: CacheRecord, in group: SharingGroup, key: String? = nil) -> Bool {
        if case .accessToken(let token) = record,
            let held = partitions[group]?[token.account].accessTokens[key ?? token.key], held.isNewer(than: token)
        {
            return false
        }
        partitions[group, default: Partition()].save(record, key: key)
        return true
    }

    /// Adds an unread record from the store: its token remains there, until `fill(with:of:in:)` adds it.
    ///
    /// - Parameter key: the record's key.
    package mutating func loadUnread(_ record: CacheRecord, in group: SharingGroup, key: String) {
        partitions[group, default: Partition()].loadUnread(record, key: key)
    }

    /// Changes the partition of a group in place, if there is one.
    mutating func changePartition(_ group: SharingGroup, _ body: (inout Partition) -> Void) {
        if let index = partitions.index(forKey: group) { body(&partitions.values[index]) }
    }

    /// Applies changes in memory.
    package mutating func apply(_ changes: [CacheChange], in group: SharingGroup) {
        for change in changes {
            switch change {
            case .save(let record): partitions[group, default: Partition()].save(record)
            case .remove(let key, let account): partitions[group, default: Partition()].remove(key, account: account)
            case .removeEverything: partitions[group] = nil
            }
        }
    }

    /// The changes that write every record that is in memory. Clouds are not included: they are discovered again. Neither are unread
    /// records, which only the store has.
    package func everything() -> [StoreChange] {
        partitions.flatMap { group, partition in
            partition.records.filter { !$0.isUnread }.map { .put($0.stored(in: group)) }
        }
    }

    /// The number of accounts, in all sharing groups.
    package var accountCount: Int {
        partitions.values.reduce(0) { $0 + $1.describedCount }
    }

    /// The number of accounts that have tokens of an app's own, in all sharing groups.
    package func accountCount(ofApp clientID: ClientID) -> Int {
        partitions.values.reduce(0) { $0 + $1.holders.accountCount(ofApp: clientID) }
    }

    /// The number of access tokens and refresh tokens, in all sharing groups.
    package var credentialCount: Int {
        partitions.values.reduce(0) { $0 + $1.credentialCount }
    }

    /// The hosts under which accounts were saved.
    package var environments: Set<String> { Set(partitions.values.flatMap(\.environments)) }

    /// The part of the cache that belongs to a sharing group.
    package func partition(_ group: SharingGroup) -> Partition { partitions[group] ?? Partition() }

    /// The account's username; nil if it is unknown.
    package func username(of account: AccountKey, in group: SharingGroup) -> String? {
        partition(group).profiles(of: account).inListOrder.first?.username.trimmedNonEmpty
    }

    /// The names by which requests find an account: its usernames, the first of which is `username(of:in:)`, and the user IDs that ADAL has
    /// given its apps. None if it is unknown.
    package func names(of account: AccountKey, in group: SharingGroup) -> [String] {
        partition(group).profiles(of: account).inListOrder.flatMap { profile in
            [profile.username.trimmedNonEmpty, profile.adalUserID].compactMap(\.self)
        }
    }

    /// The key of an account of an authority: the one that it was saved under, or else a new one.
    package func accountKey(
        _ identity: AccountKey.Identity, at authority: Authority, in partition: Partition
    ) -> AccountKey {
        let key = AccountKey(issuer: clouds.issuer(of: authority), identity: identity)
        guard key.issuer != .microsoft, !partition.contains(key) else { return key }
        return clouds.otherIssuers(of: authority).lazy.map { AccountKey(issuer: $0, identity: identity) }
            .first { partition.contains($0) && mayBelong($0, to: authority, in: partition) } ?? key
    }

    /// Whether an account that was saved under another issuer may be the authority's. An account of another port of the host is not, unless
    /// another library has saved it. The host of a custom domain does not identify the issuer: its accounts of an
    /// earlier version are those of the only authority that apps have used there.
    private func mayBelong(_ account: AccountKey, to authority: Authority, in partition: Partition) -> Bool {
        let environment = authority.environment
        if URLParts.host(ofEnvironment: environment) != environment {
            let records = partition.records(of: account, [.account]).accounts
            let isOfPort = records.values.contains { record in
                CloudDirectory.mayBelong(
                    savedUnder: record.environment, byAgent: record.unknownFields == nil, to: environment)
            }
            guard records.isEmpty || isOfPort else { return false }
        }
        guard authority.isAtCustomDomain, !account.issuer.isAtCustomDomain else { return true }
        return partition[account].belongsOnly(to: authority, clouds)
    }

    /// Whether an account belongs to an authority.
    package func isAccount(_ account: AccountKey, of authority: Authority, in partition: Partition) -> Bool {
        accountKey(account.identity, at: authority, in: partition) == account
    }

    /// The accounts of an authority with a username, in the order of `Partition.accounts(named:)`; if there is none, the one that had it as
    /// the user ID of ADAL.
    func accounts(named name: String, at authority: Authority, in partition: Partition) -> [AccountKey] {
        let named = partition.accounts(named: name)
        let accounts = named.isEmpty ? [partition.account(formerlyNamed: name)].compactMap(\.self) : named
        return accounts.filter { isAccount($0, of: authority, in: partition) }
    }

    /// Whether an account of an authority has a username, or the user ID that ADAL has given its apps, now or before.
    package func isAccount(
        _ identifier: HomeAccountID, named name: String, at authority: Authority, in group: SharingGroup
    ) -> Bool {
        accounts(named: name, at: authority, in: partition(group)).contains { $0.homeAccountID == identifier }
    }

    /// The host under which credentials of this authority are saved.
    func cacheEnvironment(of authority: Authority) -> String {
        clouds.cloud(of: authority.environment).preferredCache
    }

    /// The app's family, as the token endpoint last reported it; the presumed family for an app that it never reported.
    ///
    /// - Parameter isConfined: whether there is no presumed family: for peers that may name any client ID.
    func family(
        of clientID: ClientID, at environment: String, in partition: Partition, isConfined: Bool
    ) -> FamilyID? {
        guard let app = appMetadata(of: clientID, at: environment, in: partition) else {
            return isConfined ? nil : .presumed
        }
        return FamilyID(app.familyID)
    }

    /// Whether a refresh token is an app's own, or that of the app's family.
    func belongs(
        _ token: RefreshTokenRecord, to clientID: ClientID, in partition: Partition, isConfined: Bool
    ) -> Bool {
        guard let family = token.familyID else { return token.clientID == clientID }
        return family == self.family(of: clientID, at: token.environment, in: partition, isConfined: isConfined)
    }

    /// The metadata of an app; another library may have saved it under another name of the cloud.
    func appMetadata(of clientID: ClientID, at environment: String, in partition: Partition) -> AppMetadataRecord? {
        if let app = partition.apps[AppMetadataRecord.key(clientID.key, at: environment)] { return app }
        return clouds.cacheAliases(of: environment).lazy
            .compactMap { partition.apps[AppMetadataRecord.key(clientID.key, at: $0)] }.first
    }
}

/// A change of a sharing group's records; the same changes are written to the store and applied in memory.
package enum CacheChange: Sendable, Equatable {
    case save(CacheRecord)
    case remove(RecordKey, account: AccountKey?)
    case removeEverything

    /// The record that is saved; nil for a removal.
    package var savedRecord: CacheRecord? { if case .save(let record) = self { record } else { nil } }

    /// Whether the change would write a record without its token.
    package var savesUnread: Bool { savedRecord?.isUnread ?? false }

    /// The change as the store writes it.
    package func stored(in group: SharingGroup) -> StoreChange {
        switch self {
        case .save(let record): .put(record.stored(in: group))
        case .remove(let key, _): .delete(key)
        case .removeEverything: .deleteGroup(group.name)
        }
    }
}

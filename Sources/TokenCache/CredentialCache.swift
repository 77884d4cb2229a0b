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

/// What has become of a token since it was read: a redemption, a sign-in, an import or a sign-out may have replaced or removed it.
extension CredentialCache {
    /// The record of a refresh token that an account has; nil if there is none. Of several copies, it is the first by their keys.
    package func refreshToken(_ secret: Secret, of account: AccountKey, in group: SharingGroup) -> RefreshTokenRecord? {
        partition(group)[account].refreshTokens.values.filter { $0.secret == secret }.min { $0.key < $1.key }
    }

    /// Whether the cache still holds a refresh token under this one's key, whatever its secret, or this one in an account to which it has
    /// moved. If not, the app has signed out since the token was read.
    ///
    /// Callers read the tokens of `accounts(withTokensOf:in:)` first. One that could not be read may be this one, and counts as this one.
    package func stillHolds(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        let partition = partition(group)
        if partition[token.account].refreshTokens[token.key] != nil { return true }
        return accounts(withTokensOf: token.account, in: group).dropFirst().contains { account in
            partition[account].refreshTokens.values.contains { $0.secret == token.secret || $0.secret.isUnread }
        }
    }

    /// The accounts that may have the tokens that an account had: itself, and the accounts to which they have moved since if it was known
    /// by its username and has got its identifier.
    package func accounts(withTokensOf account: AccountKey, in group: SharingGroup) -> [AccountKey] {
        let named = account.name.map { partition(group).accounts(named: $0, of: account.issuer) } ?? []
        return [account] + named.filter { $0 != account }
    }

    /// The refresh token under this one's key: itself, or the token that has replaced it since by a sign-in or an import.
    package func refreshToken(inPlaceOf token: RefreshTokenRecord, in group: SharingGroup) -> RefreshTokenRecord? {
        partition(group)[token.account].refreshTokens[token.key]
    }

    /// Whether a sign-in, an import or a redemption has put another refresh token in the place of this one. One that is in the store only may
    /// be this one: callers read the account first.
    package func hasReplaced(_ token: RefreshTokenRecord, in group: SharingGroup) -> Bool {
        guard let held = refreshToken(inPlaceOf: token, in: group)?.secret else { return false }
        return !held.isUnread && held != token.secret
    }

    /// Whether an access token is still in the cache, including that of an account that has got its identifier since.
    ///
    /// Callers read the tokens of `accounts(withTokensOf:in:)` first. One that could not be read may be this one, and counts as this one.
    package func stillHolds(_ accessToken: Secret, of account: AccountKey, in group: SharingGroup) -> Bool {
        accounts(withTokensOf: account, in: group).contains { account in
            partition(group)[account].accessTokens.values.contains { $0.secret == accessToken || $0.secret.isUnread }
        }
    }

    /// Whether the app has signed out of the authority's account with this identifier.
    package func isSignedOut(_ identifier: HomeAccountID, of parameters: TokenParameters) -> Bool {
        let partition = partition(parameters.sharingGroup)
        return isSignedOut(accountKey(.home(identifier), at: parameters.authority, in: partition), of: parameters)
    }

    /// Whether the app has signed out of an account. The refresh token of its family may be in the cache nevertheless, for the other apps.
    package func isSignedOut(_ account: AccountKey, of parameters: TokenParameters) -> Bool {
        partition(parameters.sharingGroup)[account].isSignedOut(parameters.clientID)
    }

    /// The refresh tokens in the cache that `changes` would replace.
    package func refreshTokens(replacedBy changes: [CacheChange], in group: SharingGroup) -> [Secret] {
        let partition = partition(group)
        return changes.compactMap { change in
            guard case .save(.refreshToken(let token)) = change else { return nil }
            return partition[token.account].refreshTokens[token.key]?.secret
        }
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

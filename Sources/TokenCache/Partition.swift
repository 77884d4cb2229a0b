package import TokenModel
internal import TokenStore

/// The part of the cache that belongs to one sharing group.
package struct Partition: Sendable, Equatable {
    package private(set) var accounts: [AccountKey: AccountCredentials] = [:]
    package private(set) var apps: [String: AppMetadataRecord] = [:]
    /// The current account that each app was last given, by client ID.
    private(set) var currentAccounts: [String: CurrentAccountRecord] = [:]
    /// Entries that are kept for other libraries only.
    package private(set) var opaqueRecords: [String: OpaqueRecord] = [:]
    /// The accounts of each username, in lower case.
    private var names: [String: Set<AccountKey>] = [:]
    /// The accounts of each identifier that belong to other issuers than Microsoft's clouds.
    private var foreignAccounts: [HomeAccountID: Set<AccountKey>] = [:]

    package init() {}

    /// Whether a removal of everything has nothing to remove. App metadata belongs to no account and does not count.
    var isEmpty: Bool { accounts.isEmpty && opaqueRecords.isEmpty }

    package var records: [CacheRecord] {
        accounts.values.flatMap(\.records) + apps.values.map(\.record) + currentAccounts.values.map(\.record)
            + opaqueRecords.values.map(\.record)
    }

    package subscript(account: AccountKey) -> AccountCredentials { accounts[account] ?? AccountCredentials() }

    /// The accounts with an identifier, of every issuer, in a stable order.
    package func accounts(with identifier: HomeAccountID) -> [AccountKey] {
        let own = AccountKey(issuer: .microsoft, identity: .home(identifier))
        let foreign = foreignAccounts[identifier, default: []].sorted { $0.key < $1.key }
        return accounts[own] == nil ? foreign : [own] + foreign
    }

    /// The accounts of an issuer with a username, in the order of `accounts(named:)`.
    package func accounts(named name: String, of issuer: Issuer) -> [AccountKey] {
        accounts(named: name).filter { $0.issuer == issuer }
    }

    /// The accounts with a username, of every issuer: those with a home account ID before those without, then in a stable order.
    package func accounts(named name: String) -> [AccountKey] {
        names[name.lowercased(), default: []].sorted { left, right in
            switch (left.identity, right.identity) {
            case (.home, .name): true
            case (.name, .home): false
            default: left.key < right.key
            }
        }
    }

    mutating func save(_ record: CacheRecord) {
        switch record {
        case .account(let record): changeAccounts(of: record.account) { $0[record.key] = record }
        case .accessToken(let record): change(record.account) { $0.accessTokens[record.key] = record }
        case .refreshToken(let record): change(record.account) { $0.refreshTokens[record.key] = record }
        case .idToken(let record): change(record.account) { $0.idTokens[record.key] = record }
        case .appMetadata(let record): apps[record.key] = record
        case .currentAccount(let record): currentAccounts[record.key] = record
        case .opaque(let record): opaqueRecords[record.key] = record
        case .accountMetadata(let record):
            change(record.account) { $0.metadata[record.clientID.lowercased()] = record }
        }
    }

    mutating func remove(_ key: RecordKey, account: AccountKey?) {
        guard let account else {
            switch key.kind {
            case .currentAccount: currentAccounts[key.key] = nil
            case .opaque: opaqueRecords[key.key] = nil
            default: apps[key.key] = nil
            }
            return
        }
        if key.kind == .account { return changeAccounts(of: account) { $0[key.key] = nil } }
        change(account) {
            switch key.kind {
            case .accessToken: $0.accessTokens[key.key] = nil
            case .refreshToken: $0.refreshTokens[key.key] = nil
            case .idToken: $0.idTokens[key.key] = nil
            case .accountMetadata: $0.metadata = $0.metadata.filter { $0.value.key != key.key }
            default: break
            }
        }
    }

    /// Adds an account to the entry of an index, or removes it; an entry without accounts is nil.
    private static func index(_ account: AccountKey, _ isGone: Bool, in accounts: inout Set<AccountKey>?) {
        if !isGone, accounts == nil { accounts = [] }
        if isGone { accounts?.remove(account) } else { accounts?.insert(account) }
        if accounts?.isEmpty == true { accounts = nil }
    }

    /// Changes the account records of an account, and with them its usernames.
    private mutating func changeAccounts(of account: AccountKey, _ body: (inout [String: AccountRecord]) -> Void) {
        let before = accounts[account]?.names ?? []
        change(account) { body(&$0.accounts) }
        let after = accounts[account]?.names ?? []
        for name in before.subtracting(after) where name != account.name {
            Self.index(account, true, in: &names[name])
        }
        for name in after.subtracting(before) { Self.index(account, false, in: &names[name]) }
    }

    private mutating func change(_ account: AccountKey, _ body: (inout AccountCredentials) -> Void) {
        body(&accounts[account, default: AccountCredentials()])
        let isGone = accounts[account]?.isEmpty == true
        if isGone { accounts[account] = nil }
        switch account.identity {
        case .name(let name): Self.index(account, isGone, in: &names[name])
        case .home(let identifier) where account.issuer != .microsoft:
            Self.index(account, isGone, in: &foreignAccounts[identifier])
        case .home: break
        }
    }
}

/// The records of one account, by their keys.
package struct AccountCredentials: Sendable, Equatable {
    package var accounts: [String: AccountRecord] = [:]
    package var accessTokens: [String: AccessTokenRecord] = [:]
    package var refreshTokens: [String: RefreshTokenRecord] = [:]
    package var idTokens: [String: IDTokenRecord] = [:]
    /// By the app's `ClientID.key`.
    package var metadata: [String: AccountMetadataRecord] = [:]

    package init() {}

    var isEmpty: Bool {
        accounts.isEmpty && accessTokens.isEmpty && refreshTokens.isEmpty && idTokens.isEmpty && metadata.isEmpty
    }

    /// All records, in an order that depends on their keys only.
    package var records: [CacheRecord] {
        func sorted(_ records: [String: some RecordContent]) -> [CacheRecord] {
            records.sorted { $0.key < $1.key }.map(\.value.record)
        }
        return sorted(refreshTokens) + sorted(accessTokens) + sorted(idTokens) + sorted(accounts) + sorted(metadata)
    }

    /// Whether there is a record of the same kind and key.
    package func contains(_ record: CacheRecord) -> Bool {
        switch record {
        case .account(let record): accounts[record.key] != nil
        case .accessToken(let record): accessTokens[record.key] != nil
        case .refreshToken(let record): refreshTokens[record.key] != nil
        case .idToken(let record): idTokens[record.key] != nil
        case .accountMetadata(let record): metadata[record.clientID.lowercased()] != nil
        default: false
        }
    }

    /// The account's usernames, in lower case.
    var names: Set<String> { Set(accounts.values.map { $0.username.lowercased() }) }

    /// The account records in a stable order: the home tenant's first, then by realm.
    package var orderedAccounts: [AccountRecord] { orderedAccounts { _ in 0 } }

    /// The account records in a stable order: those of a host first, then those of its cloud, then others. One account may be
    /// in several clouds.
    func orderedAccounts(from environment: String, _ clouds: CloudDirectory) -> [AccountRecord] {
        orderedAccounts { record in
            if record.environment == environment { return 0 }
            return clouds.sameCloud(record.environment, environment) ? 1 : 2
        }
    }

    private func orderedAccounts(_ distance: (AccountRecord) -> Int) -> [AccountRecord] {
        guard accounts.count > 1 else { return Array(accounts.values) }
        func rank(_ record: AccountRecord) -> (Int, Int, String, String) {
            (distance(record), record.isHome ? 0 : 1, record.realm, record.environment)
        }
        return accounts.values.sorted { rank($0) < rank($1) }
    }

    func isSignedOut(_ clientID: ClientID) -> Bool { metadata[clientID.key]?.signInState == .signedOut }

    /// The ID token that came with an access token. Libraries name a cloud differently, and two of them may have saved the two
    /// tokens: an ID token under the same name is preferred to one under another.
    package func idToken(like token: AccessTokenRecord, _ clouds: CloudDirectory) -> IDTokenRecord? {
        let matching = idTokens.values.filter {
            $0.clientID == token.clientID && $0.realm == token.realm && $0.version == token.version
                && clouds.sameCloud($0.environment, token.environment)
        }
        return matching.min { left, right in
            (left.environment == token.environment ? 0 : 1, left.key)
                < (right.environment == token.environment ? 0 : 1, right.key)
        }
    }
}

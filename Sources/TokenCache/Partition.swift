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
    /// The accounts in the order in which they are listed.
    private(set) var order = SortedMap<AccountKey>()
    /// The access tokens and refresh tokens by the identifiers under which they are listed.
    private(set) var credentials = SortedMap<CredentialPlace>()
    /// The accounts that have tokens of each app.
    private(set) var holders = TokenHolders()
    /// The number of accounts that have an account record.
    private(set) var describedCount = 0
    /// The accounts of each username, in lower case.
    private var names: [String: SortedMap<AccountKey>] = [:]
    /// The accounts of each identifier that belong to other issuers than Microsoft's clouds.
    private var foreignAccounts: [HomeAccountID: SortedMap<AccountKey>] = [:]

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
        let foreign = foreignAccounts[identifier]?.values ?? []
        return accounts[own] == nil ? foreign : [own] + foreign
    }

    /// The accounts with an identifier, of every issuer, in the order of `order`.
    func sortedAccounts(with identifier: HomeAccountID) -> SortedMap<AccountKey> {
        var sorted = foreignAccounts[identifier] ?? SortedMap()
        let own = AccountKey(issuer: .microsoft, identity: .home(identifier))
        if accounts[own] != nil { sorted[own.key] = own }
        return sorted
    }

    /// The accounts with a username, of every issuer, in the order of `order`.
    func sortedAccounts(named name: String) -> SortedMap<AccountKey> { names[name.lowercased()] ?? SortedMap() }

    /// The accounts of an issuer with a username, in the order of `accounts(named:)`.
    package func accounts(named name: String, of issuer: Issuer) -> [AccountKey] {
        accounts(named: name).filter { $0.issuer == issuer }
    }

    /// The accounts with a username, of every issuer: those with a home account ID before those without, then in a stable order.
    package func accounts(named name: String) -> [AccountKey] {
        let accounts = names[name.lowercased()]?.values ?? []
        return accounts.filter { $0.homeAccountID != nil } + accounts.filter { $0.homeAccountID == nil }
    }

    /// The number of accounts with a username, of every issuer.
    func accountCount(named name: String) -> Int { names[name.lowercased()]?.count ?? 0 }

    /// - Parameter key: the record's key, if it is known.
    mutating func save(_ record: CacheRecord, key: String? = nil) {
        switch record {
        case .account(let record): changeAccounts(of: record.account) { $0[key ?? record.key] = record }
        case .accessToken(let record): setAccessToken(record, key ?? record.key, of: record.account)
        case .refreshToken(let record): setRefreshToken(record, key ?? record.key, of: record.account)
        case .idToken(let record): change(record.account) { $0.setIDToken(record, key ?? record.key) }
        case .appMetadata(let record): apps[key ?? record.key] = record
        case .currentAccount(let record): currentAccounts[key ?? record.key] = record
        case .opaque(let record): opaqueRecords[key ?? record.key] = record
        case .accountMetadata(let record):
            setMetadata(record, record.clientID.lowercased(), of: record.account)
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
        switch key.kind {
        case .accessToken: setAccessToken(nil, key.key, of: account)
        case .refreshToken: setRefreshToken(nil, key.key, of: account)
        case .idToken: change(account) { $0.setIDToken(nil, key.key) }
        case .accountMetadata:
            for (app, record) in self[account].metadata where record.key == key.key {
                setMetadata(nil, app, of: account)
            }
        default: break
        }
    }

    private mutating func setAccessToken(_ token: AccessTokenRecord?, _ key: String, of account: AccountKey) {
        var old: AccessTokenRecord?
        change(account) { old = $0.setAccessToken(token, key) }
        count(token.map(CacheRecord.accessToken), replacing: old.map(CacheRecord.accessToken))
        listCredential(key, (token != nil, old != nil), CredentialPlace(account: account, kind: .accessToken, key: key))
    }

    private mutating func setRefreshToken(_ token: RefreshTokenRecord?, _ key: String, of account: AccountKey) {
        var old: RefreshTokenRecord?
        change(account) { old = $0.setRefreshToken(token, key) }
        count(token.map(CacheRecord.refreshToken), replacing: old.map(CacheRecord.refreshToken))
        listCredential(
            key, (token != nil, old != nil), CredentialPlace(account: account, kind: .refreshToken, key: key))
    }

    private mutating func setMetadata(_ metadata: AccountMetadataRecord?, _ app: String, of account: AccountKey) {
        var old: AccountMetadataRecord?
        change(account) {
            old = $0.metadata[app]
            $0.metadata[app] = metadata
        }
        count(metadata.map(CacheRecord.accountMetadata), replacing: old.map(CacheRecord.accountMetadata))
    }

    private mutating func count(_ new: CacheRecord?, replacing old: CacheRecord?) {
        if let new { holders.count(new, isAdded: true) }
        if let old { holders.count(old, isAdded: false) }
    }

    /// - Parameter isHeld: whether the cache has the credential now, and whether it had it before.
    private mutating func listCredential(_ key: String, _ isHeld: (now: Bool, before: Bool), _ place: CredentialPlace) {
        if isHeld.now != isHeld.before { credentials[CredentialPlace.id(ofKey: key)] = isHeld.now ? place : nil }
    }

    private static func index(_ account: AccountKey, _ isGone: Bool, in accounts: inout SortedMap<AccountKey>?) {
        var changed = accounts ?? SortedMap()
        accounts = nil
        changed[account.key] = isGone ? nil : account
        accounts = changed.isEmpty ? nil : changed
    }

    /// Changes the account records of an account, and with them its usernames.
    private mutating func changeAccounts(of account: AccountKey, _ body: (inout RecordMap<AccountRecord>) -> Void) {
        let before = accounts[account]?.names ?? []
        change(account) { body(&$0.accounts) }
        let after = accounts[account]?.names ?? []
        describedCount += (after.isEmpty ? 0 : 1) - (before.isEmpty ? 0 : 1)
        for name in before.subtracting(after) where name != account.name {
            Self.index(account, true, in: &names[name])
        }
        for name in after.subtracting(before) { Self.index(account, false, in: &names[name]) }
    }

    private mutating func change(_ account: AccountKey, _ body: (inout AccountCredentials) -> Void) {
        let isNew = accounts[account] == nil
        body(&accounts[account, default: AccountCredentials()])
        let isGone = accounts[account]?.isEmpty == true
        if isGone { accounts[account] = nil }
        guard isNew != isGone else { return }
        order[account.key] = isGone ? nil : account
        switch account.identity {
        case .name(let name): Self.index(account, isGone, in: &names[name])
        case .home(let identifier) where account.issuer != .microsoft:
            Self.index(account, isGone, in: &foreignAccounts[identifier])
        case .home: break
        }
    }
}

/// The place of an access token or a refresh token in a partition.
struct CredentialPlace: Sendable, Equatable {
    var account: AccountKey
    var kind: RecordKind
    var key: String

    /// The identifier of the credential with a key: the key, or its hash if it is longer than a text in a message.
    static func id(ofKey key: String) -> String {
        key.utf8.count <= ValueLimits.text ? key : "sha256:\(Fingerprint.of(key))"
    }
}

/// The records of one account, by their keys.
package struct AccountCredentials: Sendable, Equatable {
    package var accounts = RecordMap<AccountRecord>()
    package private(set) var accessTokens = RecordMap<AccessTokenRecord>()
    package private(set) var refreshTokens = RecordMap<RefreshTokenRecord>()
    package private(set) var idTokens = RecordMap<IDTokenRecord>()
    private(set) var accessTokenIndex = IndexOfMany<AccessTokenIndex>()
    private(set) var refreshTokenIndex = IndexOfMany<RefreshTokenIndex>()
    private(set) var idTokenIndex = IndexOfMany<IDTokenIndex>()
    /// By the app's `ClientID.key`.
    package var metadata = RecordMap<AccountMetadataRecord>()

    package init() {}

    var isEmpty: Bool {
        accounts.isEmpty && accessTokens.isEmpty && refreshTokens.isEmpty && idTokens.isEmpty && metadata.isEmpty
    }

    /// Adds, replaces or removes the access token with a key.
    ///
    /// - Returns: the token that had the key before.
    mutating func setAccessToken(_ token: AccessTokenRecord?, _ key: String) -> AccessTokenRecord? {
        let old = accessTokens[key]
        accessTokens[key] = token
        accessTokenIndex.replace(old, with: token, key, among: accessTokens)
        return old
    }

    /// Adds, replaces or removes the refresh token with a key.
    ///
    /// - Returns: the token that had the key before.
    mutating func setRefreshToken(_ token: RefreshTokenRecord?, _ key: String) -> RefreshTokenRecord? {
        let old = refreshTokens[key]
        refreshTokens[key] = token
        refreshTokenIndex.replace(old, with: token, key, among: refreshTokens)
        return old
    }

    /// Adds, replaces or removes the ID token with a key.
    mutating func setIDToken(_ token: IDTokenRecord?, _ key: String) {
        let old = idTokens[key]
        idTokens[key] = token
        idTokenIndex.replace(old, with: token, key, among: idTokens)
    }

    /// All records, in an order that depends on their keys only.
    package var records: [CacheRecord] {
        func sorted(_ records: RecordMap<some RecordContent>) -> [CacheRecord] {
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
    package var orderedAccounts: [AccountRecord] {
        guard accounts.count > 1 else { return Array(accounts.values) }
        let ranked = accounts.values.map { (($0.isHome ? 0 : 1, $0.realm, $0.environment), $0) }
        return ranked.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The first account record that meets a condition: of those of a host, or else of its cloud, or else of the others the home
    /// tenant's, or else the first by realm. One account may be in several clouds.
    func firstAccount(
        from environment: String, _ clouds: CloudDirectory, where isMatch: (AccountRecord) -> Bool = { _ in true }
    ) -> AccountRecord? {
        if accounts.count == 1 { return accounts.values.first.flatMap { isMatch($0) ? $0 : nil } }
        var first: (rank: (Int, Int, String, String), record: AccountRecord)?
        for record in accounts.values where isMatch(record) {
            let distance =
                record.environment == environment ? 0 : clouds.sameCloud(record.environment, environment) ? 1 : 2
            let rank = (distance, record.isHome ? 0 : 1, record.realm, record.environment)
            if first.map({ rank < $0.rank }) ?? true { first = (rank, record) }
        }
        return first?.record
    }

    func isSignedOut(_ clientID: ClientID) -> Bool { metadata[clientID.key]?.signInState == .signedOut }
}

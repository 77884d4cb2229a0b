package import TokenModel
internal import TokenStore

/// The part of the cache that belongs to one sharing group.
package struct Partition: Sendable, Equatable {
    private var table = AccountTable()
    package private(set) var apps = RecordMap<AppMetadataRecord>()
    /// The current account that each app was last given.
    private(set) var currentAccounts = RecordMap<CurrentAccountRecord>()
    /// Entries that are kept for other libraries only.
    package private(set) var opaqueRecords = RecordMap<OpaqueRecord>()
    /// The keys of those of them that name an account, by its identifier.
    private var opaqueKeys: [ExactText: Set<ExactText>] = [:]
    /// The accounts in the order in which they are listed.
    private(set) var order = SortedMap<AccountKey>()
    /// The number of access tokens and refresh tokens.
    private(set) var credentialCount = 0
    /// The access tokens and refresh tokens whose identifiers are not their keys.
    private var longCredentials = RecordMap<CredentialPlace>()
    /// The accounts that have tokens of each app.
    private(set) var holders = TokenHolders()
    /// The number of accounts that have an account record, and a user.
    private(set) var describedCount = 0
    /// The number of account records that were saved under each host.
    private var environmentCounts: [String: Int] = [:]
    /// The accounts of each username and each user ID of ADAL, in lower case.
    private var names: [String: SortedMap<AccountKey>] = [:]
    /// The accounts of each former user ID of ADAL, in lower case.
    private var formerNames: [String: SortedMap<AccountKey>] = [:]
    /// The accounts of each identifier that belong to other issuers than Microsoft's clouds.
    private var foreignAccounts: [HomeAccountID: SortedMap<AccountKey>] = [:]

    package init() {}

    /// Whether a removal of everything has nothing to remove. App metadata belongs to no account and does not count.
    var isEmpty: Bool { table.isEmpty && currentAccounts.isEmpty && opaqueRecords.isEmpty }

    /// Every record. Those of packed accounts are unread.
    package var records: [CacheRecord] {
        table.keys.flatMap { self[$0].records } + apps.values.map(\.record) + currentAccounts.values.map(\.record)
            + opaqueRecords.values.map(\.record)
    }

    /// The records of an account. Those of a packed account are unread.
    package subscript(account: AccountKey) -> AccountCredentials { table[account] ?? AccountCredentials() }

    /// The bytes of the tokens of an account that are in memory.
    package func tokenSize(of account: AccountKey) -> Int { unpackedRecords(of: account)?.tokenSize ?? 0 }

    /// The records of an account that is not packed; nil for any other.
    func unpackedRecords(of account: AccountKey) -> AccountCredentials? { table.unpackedRecords(of: account) }

    /// The hosts under which accounts were saved.
    var environments: some Collection<String> { environmentCounts.keys }

    /// The accounts in any order.
    package var accountKeys: [AccountKey] { Array(table.keys) }

    /// Whether there are records of an account.
    package func contains(_ account: AccountKey) -> Bool { table.contains(account) }

    /// Whether an account has access tokens or refresh tokens.
    func hasCredentials(_ account: AccountKey) -> Bool { table.hasCredentials(account) }

    /// What a list shows of each account record of an account, in any order.
    ///
    /// - Parameter texts: shares texts with other accounts.
    func profiles(of account: AccountKey, _ texts: TextPool = TextPool(isShared: false)) -> [ListedProfile] {
        table.profiles(of: account, texts)
    }

    /// The records of an account that are of some kinds, and perhaps its other records.
    func records(of account: AccountKey, _ kinds: Set<RecordKind>) -> AccountCredentials {
        table.records(of: account, kinds) ?? AccountCredentials()
    }

    /// The number of records that a survey of an account examines. It is not unpacked.
    func surveyedCount(of account: AccountKey) -> Int { table.surveyedCount(of: account) }

    /// The accounts with an identifier, of every issuer, in a stable order.
    package func accounts(with identifier: HomeAccountID) -> [AccountKey] {
        let own = AccountKey(issuer: .microsoft, identity: .home(identifier))
        let foreign = foreignAccounts[identifier]?.values ?? []
        return table.contains(own) ? [own] + foreign : foreign
    }

    /// The accounts with an identifier, of every issuer, in the order of `order`.
    func sortedAccounts(with identifier: HomeAccountID) -> SortedMap<AccountKey> {
        var sorted = foreignAccounts[identifier] ?? SortedMap()
        let own = AccountKey(issuer: .microsoft, identity: .home(identifier))
        if table.contains(own) { sorted[own.key] = own }
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

    /// The account to which ADAL has given a user ID that no account has now; nil if there is none, or if several have had it.
    package func account(formerlyNamed name: String) -> AccountKey? {
        let name = name.lowercased()
        guard names[name] == nil, let accounts = formerNames[name]?.values, accounts.count == 1 else { return nil }
        return accounts.first
    }

    /// The accounts that are known by a username only, of every issuer, in a stable order.
    func unidentifiedAccounts(named name: String) -> [AccountKey] {
        var accounts: [AccountKey] = []
        sortedAccounts(named: name).forEach(from: nil) { _, account in
            if account.name != nil { accounts.append(account) }
            return true
        }
        return accounts
    }

    /// The number of accounts with a username, of every issuer.
    func accountCount(named name: String) -> Int { names[name.lowercased()]?.count ?? 0 }

    /// - Parameter key: the record's key, if it is known.
    mutating func save(_ record: CacheRecord, key: String? = nil) {
        switch record {
        case .account(let record): setAccount(record, key ?? record.key, of: record.account)
        case .accessToken(let record): setAccessToken(record, key ?? record.key, of: record.account)
        case .refreshToken(let record): setRefreshToken(record, key ?? record.key, of: record.account)
        case .idToken(let record): change(record.account) { $0.setIDToken(record, key ?? record.key) }
        case .appMetadata(let record): apps[key ?? record.key] = record
        case .currentAccount(let record): currentAccounts[key ?? record.key] = record
        case .opaque(let record): setOpaque(record, key ?? record.key)
        case .accountMetadata(let record):
            setMetadata(record, record.clientID.lowercased(), of: record.account)
        }
    }

    mutating func remove(_ key: RecordKey, account: AccountKey?) {
        guard let account else {
            switch key.kind {
            case .currentAccount: currentAccounts[key.key] = nil
            case .opaque: setOpaque(nil, key.key)
            default: apps[key.key] = nil
            }
            return
        }
        switch key.kind {
        case .account: setAccount(nil, key.key, of: account)
        case .accessToken: setAccessToken(nil, key.key, of: account)
        case .refreshToken: setRefreshToken(nil, key.key, of: account)
        case .idToken: change(account) { $0.setIDToken(nil, key.key) }
        case .accountMetadata:
            let app = String(Substring(key.key.utf8.dropFirst(AccountMetadataRecord.keyStart(of: account).utf8.count)))
            if self[account].metadata[app]?.key.hasSameBytes(as: key.key) == true { setMetadata(nil, app, of: account) }
        default: break
        }
    }

    /// The opaque records that name an account, in any order.
    func opaqueRecords(naming identifier: HomeAccountID) -> [OpaqueRecord] {
        (opaqueKeys[ExactText(identifier.text)] ?? []).compactMap { opaqueRecords[$0.text] }
    }

    private mutating func setOpaque(_ record: OpaqueRecord?, _ key: String) {
        let old = opaqueRecords[key]
        opaqueRecords[key] = record
        if let account = old?.homeAccountID.map(ExactText.init) {
            opaqueKeys[account]?.remove(ExactText(key))
            if opaqueKeys[account]?.isEmpty == true { opaqueKeys[account] = nil }
        }
        if let account = record?.homeAccountID.map(ExactText.init) {
            opaqueKeys[account, default: []].insert(ExactText(key))
        }
    }

    private mutating func setAccessToken(_ token: AccessTokenRecord?, _ key: String, of account: AccountKey) {
        var old: AccessTokenRecord?
        change(account) { old = $0.setAccessToken(token, key) }
        count(token.map(CacheRecord.accessToken), replacing: old.map(CacheRecord.accessToken))
        listCredential(
            (now: token != nil, before: old != nil), CredentialPlace(account: account, kind: .accessToken, key: key))
    }

    private mutating func setRefreshToken(_ token: RefreshTokenRecord?, _ key: String, of account: AccountKey) {
        var old: RefreshTokenRecord?
        change(account) { old = $0.setRefreshToken(token, key) }
        count(token.map(CacheRecord.refreshToken), replacing: old.map(CacheRecord.refreshToken))
        listCredential(
            (now: token != nil, before: old != nil), CredentialPlace(account: account, kind: .refreshToken, key: key))
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
    private mutating func listCredential(_ isHeld: (now: Bool, before: Bool), _ place: CredentialPlace) {
        guard isHeld.now != isHeld.before else { return }
        credentialCount += isHeld.now ? 1 : -1
        if !place.id.hasSameBytes(as: place.key) { longCredentials[place.id] = isHeld.now ? place : nil }
    }

    /// The access token or refresh token with an identifier.
    func credential(withID id: String) -> CredentialPlace? {
        if let place = longCredentials[id] { return place }
        // A key is that of the account, a hyphen, and the rest.
        let bytes = id.utf8
        for index in bytes.prefix(3 * ValueLimits.identifier).indices where bytes[index] == UInt8(ascii: "-") {
            guard let account = order[String(id[..<index])] else { continue }
            let credentials = self[account]
            if credentials.accessTokens[id] != nil {
                return CredentialPlace(account: account, kind: .accessToken, key: id)
            }
            if credentials.refreshTokens[id] != nil {
                return CredentialPlace(account: account, kind: .refreshToken, key: id)
            }
        }
        return nil
    }

    private static func index(_ account: AccountKey, isGone: Bool, in accounts: inout SortedMap<AccountKey>?) {
        var changed = accounts ?? SortedMap()
        accounts = nil
        changed[account.key] = isGone ? nil : account
        accounts = changed.isEmpty ? nil : changed
    }

    /// Adds, replaces or removes an account record, and with it its username and its host.
    private mutating func setAccount(_ record: AccountRecord?, _ key: String, of account: AccountKey) {
        var old: AccountRecord?
        change(account) {
            old = $0.accounts[key]
            $0.accounts[key] = record
        }
        if let old { count(old, isAdded: false) }
        if let record { count(record, isAdded: true) }
        // The change has unpacked the account.
        let remaining = self[account].accounts
        if !account.isUnnamed {
            if old == nil, record != nil, remaining.count == 1 { describedCount += 1 }
            if old != nil, remaining.isEmpty { describedCount -= 1 }
        }
        Self.rename(account, from: old?.names ?? [], to: record?.names ?? [], in: &names) { name in
            name == account.name || remaining.values.contains { $0.names.contains(name) }
        }
        Self.rename(account, from: old?.formerNames ?? [], to: record?.formerNames ?? [], in: &formerNames) { name in
            remaining.values.contains { $0.formerNames.contains(name) }
        }
    }

    private static func rename(
        _ account: AccountKey, from before: Set<String>, to after: Set<String>,
        in names: inout [String: SortedMap<AccountKey>], isStillNamed: (String) -> Bool
    ) {
        guard before != after else { return }
        for name in before.subtracting(after) where !isStillNamed(name) {
            index(account, isGone: true, in: &names[name])
        }
        for name in after { index(account, isGone: false, in: &names[name]) }
    }

    private mutating func count(_ record: AccountRecord, isAdded: Bool) {
        let count = environmentCounts[record.environment, default: 0] + (isAdded ? 1 : -1)
        environmentCounts[record.environment] = count > 0 ? count : nil
    }

    private mutating func change(_ account: AccountKey, _ body: (inout AccountCredentials) -> Void) {
        let isNew = !table.contains(account)
        table.change(account, body)
        let isGone = !table.contains(account)
        if isNew != isGone { list(account, isGone: isGone) }
    }

    /// Adds an account to the orders by key, username and identifier, or removes it from them.
    private mutating func list(_ account: AccountKey, isGone: Bool) {
        order[account.key] = isGone ? nil : account
        switch account.identity {
        case .name(let name): Self.index(account, isGone: isGone, in: &names[name])
        case .home(let identifier) where account.issuer != .microsoft:
            Self.index(account, isGone: isGone, in: &foreignAccounts[identifier])
        case .home: break
        }
    }
}

/// Accounts whose tokens are in the store only.
extension Partition {
    /// Adds an unread record from the store; no other record of its kind has its key.
    ///
    /// - Parameter key: the record's key.
    mutating func loadUnread(_ record: CacheRecord, key: String) {
        guard let account = record.header.account, table.hasRoom(in: account) else {
            return save(record, key: key)
        }
        let isNew = !table.contains(account)
        let isDescribed = table.append(record, to: account)
        if isNew { list(account, isGone: false) }
        switch record {
        case .account(let record):
            if !isDescribed, !account.isUnnamed { describedCount += 1 }
            count(record, isAdded: true)
            for name in record.names where name != account.name { Self.index(account, isGone: false, in: &names[name]) }
            for name in record.formerNames { Self.index(account, isGone: false, in: &formerNames[name]) }
        case .accessToken:
            listCredential((now: true, before: false), CredentialPlace(account: account, kind: .accessToken, key: key))
        case .refreshToken:
            listCredential((now: true, before: false), CredentialPlace(account: account, kind: .refreshToken, key: key))
        default: break
        }
        count(record, replacing: nil)
    }

    /// Removes the tokens of an account from memory. They have to be in the store.
    mutating func pack(_ account: AccountKey) { table.pack(account) }

    /// Adds the token of an unread record that has been read from the store. Has no effect if there is no such unread record.
    mutating func fill(_ record: CacheRecord, key: String, of account: AccountKey) {
        guard table.contains(account) else { return }
        var old: CacheRecord?
        change(account) { old = $0.fill(record, key: key) }
        if let old { count(record, replacing: old) }
    }
}

/// The place of an access token or a refresh token in a partition.
struct CredentialPlace: Sendable, Equatable {
    var account: AccountKey
    var kind: RecordKind
    var key: String

    /// The identifier under which the credential is listed: its key, or the hash of a key with which a text in a message, the
    /// identifier or a `CredentialListPosition`, would be too long.
    var id: String { fitsIntoMessages ? key : "sha256:\(Fingerprint.of(key))" }

    private var fitsIntoMessages: Bool {
        guard key.utf8.count > Self.shortKey else { return true }
        return key.utf8.count <= ValueLimits.text
            && CredentialListPosition.after(key, of: account).utf8.count <= ValueLimits.text
    }

    /// The length up to which a key need not be examined, in bytes.
    private static let shortKey = 512
}

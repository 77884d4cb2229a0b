internal import TokenModel
internal import TokenStore

/// The records of one account, by their keys.
package struct AccountCredentials: Sendable, Equatable {
    package var accounts = RecordMap<AccountRecord>()
    package private(set) var accessTokens = RecordMap<AccessTokenRecord>()
    package private(set) var refreshTokens = RecordMap<RefreshTokenRecord>()
    package private(set) var idTokens = RecordMap<IDTokenRecord>()
    private(set) var accessTokenIndex = IndexOfMany<AccessTokenIndex>()
    private(set) var refreshTokenIndex = IndexOfMany<RefreshTokenIndex>()
    private(set) var idTokenIndex = IndexOfMany<IDTokenIndex>()
    /// The access tokens and refresh tokens by their identifiers; nil while there are few, which are sorted when they are listed.
    private var credentialOrder: SortedMap<CredentialPlace>?
    /// The state of the account in each app, by the app's `ClientID.key`.
    package var metadata = RecordMap<AccountMetadataRecord>()
    /// The number of tokens that are in the store only.
    private var unreadCount = 0
    /// The bytes of the tokens in memory.
    private(set) var tokenSize = 0

    package init() {}

    /// Whether a token of the account is in the store only.
    package var hasUnreadTokens: Bool { unreadCount > 0 }

    /// When an app last got a token of the account, in seconds since 1970; 0 if that is not known.
    package var lastObtained: Int64 {
        max(accessTokens.values.map(\.cachedAt).max() ?? 0, refreshTokens.values.compactMap(\.obtainedOn).max() ?? 0)
    }

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
        updateOrder(.accessToken, key, of: (old?.account, token?.account))
        count(old.map { ($0.secret.isUnread, $0.secret.count) }, -1)
        count(token.map { ($0.secret.isUnread, $0.secret.count) }, 1)
        return old
    }

    /// Adds, replaces or removes the refresh token with a key.
    ///
    /// - Returns: the token that had the key before.
    mutating func setRefreshToken(_ token: RefreshTokenRecord?, _ key: String) -> RefreshTokenRecord? {
        let old = refreshTokens[key]
        refreshTokens[key] = token
        refreshTokenIndex.replace(old, with: token, key, among: refreshTokens)
        updateOrder(.refreshToken, key, of: (old?.account, token?.account))
        count(old.map { ($0.secret.isUnread, $0.secret.count) }, -1)
        count(token.map { ($0.secret.isUnread, $0.secret.count) }, 1)
        return old
    }

    /// Adds, replaces or removes the ID token with a key.
    mutating func setIDToken(_ token: IDTokenRecord?, _ key: String) {
        let old = idTokens[key]
        idTokens[key] = token
        idTokenIndex.replace(old, with: token, key, among: idTokens)
        count(old.map { ($0.isUnread, $0.idToken.utf8.count) }, -1)
        count(token.map { ($0.isUnread, $0.idToken.utf8.count) }, 1)
    }

    /// Counts a token that is added (`step` 1) or removed (-1).
    private mutating func count(_ token: (isUnread: Bool, size: Int)?, _ step: Int) {
        guard let token else { return }
        if token.isUnread { unreadCount += step }
        tokenSize += step * token.size
    }

    /// The records whose tokens are in the store only: their kinds, and their keys.
    var unreadRecords: [(kind: RecordKind, key: String)] {
        guard hasUnreadTokens else { return [] }
        return accessTokens.filter { $0.value.secret.isUnread }.keys.map { (.accessToken, $0) }
            + refreshTokens.filter { $0.value.secret.isUnread }.keys.map { (.refreshToken, $0) }
            + idTokens.filter { $0.value.isUnread }.keys.map { (.idToken, $0) }
    }

    /// Whether there is a record with a key whose token is in the store only.
    func isUnread(_ key: RecordKey) -> Bool {
        switch key.kind {
        case .accessToken: accessTokens[key.key]?.secret.isUnread ?? false
        case .refreshToken: refreshTokens[key.key]?.secret.isUnread ?? false
        case .idToken: idTokens[key.key]?.isUnread ?? false
        default: false
        }
    }

    /// Whether the key of each record follows from its content.
    var hasDerivedKeys: Bool {
        func areDerived(_ records: RecordMap<some RecordContent>) -> Bool {
            records.allSatisfy { $0.key.hasSameBytes(as: $0.value.key) }
        }
        return areDerived(accounts) && areDerived(accessTokens) && areDerived(refreshTokens) && areDerived(idTokens)
    }

    /// Adds a record, in place of any with its key. Has no effect for a record that belongs to no account.
    mutating func set(_ record: CacheRecord) {
        switch record {
        case .account(let record): accounts[record.key] = record
        case .accessToken(let token): _ = setAccessToken(token, token.key)
        case .refreshToken(let token): _ = setRefreshToken(token, token.key)
        case .idToken(let token): setIDToken(token, token.key)
        case .accountMetadata(let record): metadata[record.clientID.lowercased()] = record
        case .appMetadata, .currentAccount, .opaque: break
        }
    }

    /// Adds the token of an unread record.
    ///
    /// - Returns: the unread record; nil if there is none with that key.
    mutating func fill(_ record: CacheRecord, key: String) -> CacheRecord? {
        switch record {
        case .accessToken(let token):
            guard accessTokens[key]?.secret.isUnread == true else { return nil }
            return setAccessToken(token, key).map(CacheRecord.accessToken)
        case .refreshToken(let token):
            guard refreshTokens[key]?.secret.isUnread == true else { return nil }
            return setRefreshToken(token, key).map(CacheRecord.refreshToken)
        case .idToken(let token):
            guard let old = idTokens[key], old.isUnread else { return nil }
            setIDToken(token, key)
            return .idToken(old)
        case .account, .accountMetadata, .appMetadata, .currentAccount, .opaque: return nil
        }
    }

    /// Updates the order of the credentials after one was added, replaced or removed.
    ///
    /// - Parameter account: the account of the replaced credential, and that of the new one; nil for none.
    private mutating func updateOrder(
        _ kind: RecordKind, _ key: String, of account: (old: AccountKey?, new: AccountKey?)
    ) {
        guard accessTokens.count + refreshTokens.count > Self.unsortedCredentials else { return credentialOrder = nil }
        guard let known = account.old ?? account.new, (account.old == nil) != (account.new == nil) else { return }
        guard credentialOrder != nil else {
            var order = SortedMap<CredentialPlace>()
            for place in credentialPlaces(of: known) { order[place.id] = place }
            return credentialOrder = order
        }
        let place = CredentialPlace(account: known, kind: kind, key: key)
        credentialOrder?[place.id] = account.new == nil ? nil : place
    }

    private func credentialPlaces(of account: AccountKey) -> [CredentialPlace] {
        accessTokens.keys.map { CredentialPlace(account: account, kind: .accessToken, key: $0) }
            + refreshTokens.keys.map { CredentialPlace(account: account, kind: .refreshToken, key: $0) }
    }

    /// Calls `body` with the access tokens and refresh tokens in the order of their identifiers, until it returns false.
    ///
    /// - Parameter first: the identifiers up to this one are left out; nil for none.
    /// - Returns: whether `body` has always returned true.
    func forEachCredential(
        of account: AccountKey, after first: String?, _ body: (_ id: String, _ place: CredentialPlace) -> Bool
    ) -> Bool {
        guard let order = credentialOrder else {
            return credentialPlaces(of: account).map { (id: $0.id, place: $0) }
                .filter { first?.precedes($0.id) ?? true }.sorted { $0.id.precedes($1.id) }
                .allSatisfy { body($0.id, $0.place) }
        }
        var isWhole = true
        order.forEach(from: first) { id, place in
            if let first, id.hasSameBytes(as: first) { return true }
            isWhole = body(id, place)
            return isWhole
        }
        return isWhole
    }

    /// The number of credentials that are sorted when they are listed.
    static let unsortedCredentials = 64

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

    /// The account records in the order of a list.
    package var orderedAccounts: [AccountRecord] { Array(accounts.values).inListOrder }

    /// The best account record that meets a condition: those of the host come first, then those of its cloud, then the others; among
    /// equals the home tenant's, then by realm and host. One account may be in several clouds.
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

internal import TokenModel

/// Everything the cache holds for one account, by record key.
struct Holdings: Sendable, Equatable {
    var accounts: [String: AccountRecord] = [:]
    var accessTokens: [String: AccessTokenRecord] = [:]
    var refreshTokens: [String: RefreshTokenRecord] = [:]
    var idTokens: [String: IDTokenRecord] = [:]
    /// By the app's `ClientID.key`.
    var metadata: [String: AccountMetadataRecord] = [:]

    var isEmpty: Bool {
        accounts.isEmpty && accessTokens.isEmpty && refreshTokens.isEmpty && idTokens.isEmpty && metadata.isEmpty
    }

    /// All of it, in an order that does not change while nothing changes.
    var records: [CacheRecord] {
        refreshTokens.values.sorted { $0.key < $1.key }.map(CacheRecord.refreshToken)
            + accessTokens.values.sorted { $0.key < $1.key }.map(CacheRecord.accessToken)
            + idTokens.values.sorted { $0.key < $1.key }.map(CacheRecord.idToken)
            + accounts.values.sorted { $0.key < $1.key }.map(CacheRecord.account)
            + metadata.values.sorted { $0.key < $1.key }.map(CacheRecord.accountMetadata)
    }

    /// Whether there is something under the record's key.
    func holds(_ record: CacheRecord) -> Bool {
        switch record {
        case .account(let record): accounts[record.key] != nil
        case .accessToken(let record): accessTokens[record.key] != nil
        case .refreshToken(let record): refreshTokens[record.key] != nil
        case .idToken(let record): idTokens[record.key] != nil
        case .accountMetadata(let record): metadata[record.clientID.lowercased()] != nil
        case .appMetadata, .carried, .principal: false
        }
    }

    /// The names the account goes by, in lower case.
    var names: Set<String> { Set(accounts.values.map { $0.username.lowercased() }) }

    /// Its records, the home tenant's first, then by realm: the same order every time.
    var orderedAccounts: [AccountRecord] { orderedAccounts { _ in 0 } }

    /// The same with the records of a host, then those of its cloud, before others: one account may be in several clouds.
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
    /// tokens: one under the same name is preferred to one under another.
    func idToken(like token: AccessTokenRecord, _ clouds: CloudDirectory) -> IDTokenRecord? {
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

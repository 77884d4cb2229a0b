internal import TokenModel
internal import TokenStore

/// One sharing group's part of the cache.
struct Partition: Sendable, Equatable {
    private(set) var owners: [OwnerID: Holdings] = [:]
    private(set) var apps: [String: AppMetadataRecord] = [:]
    /// The account that each app was last told is its current one.
    private(set) var principals: [String: PrincipalRecord] = [:]
    /// What is only kept for other libraries.
    private(set) var carried: [String: CarriedRecord] = [:]
    /// Who goes by a name, in lower case.
    private var names: [String: Set<OwnerID>] = [:]

    /// Whether nothing is left to remove: what is known of apps is nobody's.
    var isEmpty: Bool { owners.isEmpty && carried.isEmpty }

    /// All that is in it.
    var records: [CacheRecord] {
        owners.values.flatMap(\.records) + apps.values.map(CacheRecord.appMetadata)
            + principals.values.map(CacheRecord.principal) + carried.values.map(CacheRecord.carried)
    }

    subscript(owner: OwnerID) -> Holdings { owners[owner] ?? Holdings() }

    /// The accounts that go by a name: by home account ID before by name alone, then in a stable order.
    func owners(named name: String) -> [OwnerID] {
        names[name.lowercased(), default: []].sorted { left, right in
            switch (left, right) {
            case (.home, .name): true
            case (.name, .home): false
            default: left.key < right.key
            }
        }
    }

    mutating func save(_ record: CacheRecord) {
        switch record {
        case .account(let record): changeAccounts(of: record.owner) { $0[record.key] = record }
        case .accessToken(let record): change(record.owner) { $0.accessTokens[record.key] = record }
        case .refreshToken(let record): change(record.owner) { $0.refreshTokens[record.key] = record }
        case .idToken(let record): change(record.owner) { $0.idTokens[record.key] = record }
        case .appMetadata(let record): apps[record.key] = record
        case .principal(let record): principals[record.key] = record
        case .carried(let record): carried[record.key] = record
        case .accountMetadata(let record):
            change(record.owner) { $0.metadata[record.clientID.lowercased()] = record }
        }
    }

    mutating func remove(_ key: RecordKey, owner: OwnerID?) {
        guard let owner else {
            switch key.kind {
            case .principal: principals[key.key] = nil
            case .carried: carried[key.key] = nil
            default: apps[key.key] = nil
            }
            return
        }
        if key.kind == .account { return changeAccounts(of: owner) { $0[key.key] = nil } }
        change(owner) {
            switch key.kind {
            case .accessToken: $0.accessTokens[key.key] = nil
            case .refreshToken: $0.refreshTokens[key.key] = nil
            case .idToken: $0.idTokens[key.key] = nil
            case .accountMetadata: $0.metadata = $0.metadata.filter { $0.value.key != key.key }
            case .account, .appMetadata, .carried, .cloud, .principal, .redemption: break
            }
        }
    }

    /// Its accounts are what an owner goes by.
    private mutating func changeAccounts(of owner: OwnerID, _ body: (inout [String: AccountRecord]) -> Void) {
        let before = owners[owner]?.names ?? []
        change(owner) { body(&$0.accounts) }
        let after = owners[owner]?.names ?? []
        for name in before.subtracting(after) where name != owner.name { names[name]?.remove(owner) }
        for name in after.subtracting(before) { names[name, default: []].insert(owner) }
    }

    private mutating func change(_ owner: OwnerID, _ body: (inout Holdings) -> Void) {
        body(&owners[owner, default: Holdings()])
        if case .name(let name) = owner { names[name, default: []].insert(owner) }
        guard owners[owner]?.isEmpty == true else { return }
        owners[owner] = nil
        if case .name(let name) = owner { names[name]?.remove(owner) }
    }
}

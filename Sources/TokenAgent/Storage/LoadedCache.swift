internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The content of the store at start-up, decoded off the event loop.
struct LoadedCache: RecordReceiver {
    private(set) var cache = CredentialCache()
    /// The redemption notes in the store, by their refresh tokens.
    private var notes: [RecordKey: StoredRecord] = [:]
    /// The number of records that could not be decoded.
    private(set) var unknown = 0
    /// The number of clouds that no Microsoft cloud has attested, which are dropped.
    private(set) var droppedClouds = 0
    /// The number of refresh tokens that are not used, since it is not certain who issued them.
    private(set) var unboundTokens = 0
    /// The keys of records that earlier versions stored under other keys, or with values beyond the limits of messages.
    private var stale: [RecordKey] = []
    /// The records that do not name their accounts' issuers.
    private var unresolved: [(record: CacheRecord, group: SharingGroup, stored: RecordKey)] = []
    /// The refresh tokens whose records do not say where they were issued.
    private var unbound: [(token: RefreshTokenRecord, group: SharingGroup)] = []
    /// The records to write instead, each with the key under which it is stored if that is another one.
    private var repaired: [RecordKey: (record: CacheRecord, group: SharingGroup, former: RecordKey?)] = [:]
    /// The redemption notes to write instead.
    private var movedNotes: [StoredRecord] = []

    /// The refresh tokens whose redemption had no answer when the agent stopped.
    var interrupted: Set<RecordKey> { Set(notes.keys) }

    enum Item: Sendable {
        case record(CacheRecord, SharingGroup, stored: RecordKey)
        case unread(CacheRecord, SharingGroup, stored: RecordKey)
        case repaired(CacheRecord?, SharingGroup, stored: RecordKey)
        case unresolved(CacheRecord, SharingGroup, stored: RecordKey)
        case cloud(CloudDirectory.Cloud)
        /// A cloud that an earlier version stored, and that a provider on this machine may have named.
        case unattestedCloud(stored: RecordKey)
        case interrupted(RecordKey, note: StoredRecord)
        case unknown
    }

    /// The state that the decoding of many records shares.
    struct Context {
        let texts = TextPool()
        let leavesOutTokens: Bool
    }

    /// Tokens that can be read again stay in the store until a request needs them.
    static func makeContext(canReadAgain: Bool) -> Context { Context(leavesOutTokens: canReadAgain) }

    static func decode(_ stored: StoredRecord, _ context: Context) -> Item {
        if let token = RedemptionNotes.token(of: stored.key) { return .interrupted(token, note: stored) }
        if stored.key.kind == .cloud {
            return CloudRecord(stored).map { .cloud($0.cloud) } ?? .unattestedCloud(stored: stored.key)
        }
        guard let group = SharingGroup(stored.key.group) else { return .unknown }
        return switch CacheRecord.load(stored, in: group, context.texts, leavesOutTokens: context.leavesOutTokens) {
        case .asStored(let record): .record(record, group, stored: stored.key)
        case .unread(let record): .unread(record, group, stored: stored.key)
        case .repaired(let record): .repaired(record, group, stored: stored.key)
        case .unresolved(let record): .unresolved(record, group, stored: stored.key)
        case .unreadable: .unknown
        }
    }

    mutating func add(_ item: Item) {
        switch item {
        case .record(let record, let group, let stored):
            if load(record, in: group, key: stored.key) { leave(stored) }
        case .unread(let record, let group, let stored):
            cache.loadUnread(record, in: group, key: stored.key)
            leave(stored)
        case .repaired(let record, let group, let stored):
            let key = record?.key(in: group)
            if stored != key { stale.append(stored) }
            if let record, let key, load(record, in: group) {
                repaired[key] = (record, group, former: stored == key ? nil : stored)
            }
        case .unresolved(let record, let group, let stored): unresolved.append((record, group, stored))
        case .cloud(let cloud): _ = cache.clouds.learn([cloud], about: cloud.preferredCache)
        case .unattestedCloud(let stored):
            stale.append(stored)
            droppedClouds += 1
        case .interrupted(let token, let note): notes[token] = note
        case .unknown: unknown += 1
        }
    }

    /// Leaves a record as it is: the store has it under its key already.
    private mutating func leave(_ stored: RecordKey) {
        if !repaired.isEmpty { repaired[stored] = nil }
    }

    private mutating func load(_ record: CacheRecord, in group: SharingGroup, key: String? = nil) -> Bool {
        guard cache.load(record, in: group, key: key) else { return false }
        if case .refreshToken(let token) = record, token.binding == nil { unbound.append((token, group)) }
        return true
    }

    /// Finds the identity providers of the records that an earlier version saved, and binds its refresh tokens to them. Called when
    /// every record has been added, since the account records name the providers.
    mutating func finish() {
        for (record, group, stored) in unresolved { resolve(record, group, stored) }
        unresolved = []
        bindRefreshTokens()
        moveNotes()
    }

    /// Moves the redemption notes of refresh tokens that get other keys. The note of a token that another one has replaced is dropped.
    private mutating func moveNotes() {
        var stored: [RecordKey: StoredRecord] = [:]
        for key in stale { stored[key] = notes.removeValue(forKey: key) }
        guard !stored.isEmpty else { return }
        for (token, record) in repaired {
            guard let former = record.former, let body = stored[former]?.body else { continue }
            let note = StoredRecord(key: RedemptionNotes.note(of: token), body: body, account: .noAccount)
            notes[token] = note
            movedNotes.append(note)
        }
    }

    /// Adds a record to the account with its identity. A record that may belong to several accounts, or to none, is dropped, but for a
    /// refresh token: it is kept under the issuer `unresolved`, where no request finds it, and a sign-out does. A sign-out is kept for
    /// every account with its identity.
    private mutating func resolve(_ record: CacheRecord, _ group: SharingGroup, _ stored: RecordKey) {
        let accounts = record.header.account.map { knownAccounts(of: record, $0, in: group) } ?? []
        guard accounts.count == 1 || Self.isSignOut(record) else {
            if case .refreshToken = record { keep(record, group, stored) } else { stale.append(stored) }
            return
        }
        for account in accounts {
            let assigned = record.assigned(to: account)
            // The account has got another one since, which is newer. Of access tokens, `load` keeps the newer one.
            if record.kind != .accessToken, cache.partition(group)[account].contains(assigned) {
                stale.append(stored)
            } else {
                add(.repaired(assigned, group, stored: stored))
            }
        }
    }

    private mutating func keep(_ record: CacheRecord, _ group: SharingGroup, _ stored: RecordKey) {
        // The store has it under this key since an earlier start.
        let isStored = stored == record.key(in: group)
        add(isStored ? .record(record, group, stored: stored) : .repaired(record, group, stored: stored))
    }

    /// The accounts to which a record without an issuer can belong.
    ///
    /// - Parameter account: the record's account, whose issuer is not known.
    private func knownAccounts(of record: CacheRecord, _ account: AccountKey, in group: SharingGroup) -> [AccountKey] {
        let (environment, partition) = (record.header.environment, cache.partition(group))
        let known =
            switch account.identity {
            case .home(let identifier): partition.accounts(with: identifier)
            case .name(let name): partition.accounts(named: name).filter { $0.identity == account.identity }
            }
        let accounts = known.filter { key in
            partition[key].accounts.values.contains { environment == nil || $0.environment == environment }
        }
        // A sign-in or a sign-out is recorded once for an app and an identifier.
        guard environment == nil else { return accounts }
        let own = AccountKey(issuer: .microsoft, identity: account.identity)
        if accounts.isEmpty || accounts.contains(own) && !Self.isSignOut(record) { return [own] }
        return accounts
    }

    private static func isSignOut(_ record: CacheRecord) -> Bool {
        if case .accountMetadata(let metadata) = record { metadata.signInState == .signedOut } else { false }
    }

    private mutating func bindRefreshTokens() {
        for (token, group) in unbound {
            let credentials = cache.partition(group)[token.account]
            // A newer token has been read since, if the record of an earlier version has not been deleted yet.
            if let held = credentials.refreshTokens[token.key], held.secret != token.secret { continue }
            guard let binding = credentials.derivedBinding(of: token, cache.clouds) else {
                unboundTokens += 1
                continue
            }
            var bound = token
            bound.binding = binding
            cache.load(.refreshToken(bound), in: group)
            let key = CacheRecord.refreshToken(bound).key(in: group)
            repaired[key] = (.refreshToken(bound), group, former: repaired[key]?.former)
        }
        unbound = []
    }

    /// The changes that make the store equal to the cache in memory, and what it has until then.
    func upgrade() -> StoreUpgrade { StoreUpgrade(changes: repairs(), formerKeys: formerKeys) }

    /// The keys under which the store has records and redemption notes, by the keys that these get; without those of a record that several
    /// accounts get.
    private var formerKeys: [RecordKey: RecordKey] {
        // Another record may get the key that one had.
        let moved = repaired.compactMapValues { $0.former }.filter { repaired[$0.value] == nil }
        let counts = moved.values.reduce(into: [RecordKey: Int]()) { $0[$1, default: 0] += 1 }
        var formerKeys = moved.filter { counts[$0.value] == 1 }
        for (key, former) in formerKeys where key.kind == .refreshToken {
            formerKeys[RedemptionNotes.note(of: key)] = RedemptionNotes.note(of: former)
        }
        return formerKeys
    }

    /// The changes that make the store equal to the cache in memory.
    func repairs() -> [StoreChange] {
        let formerNotes = stale.filter { $0.kind == .refreshToken }.map(RedemptionNotes.note)
        let written = repaired.values.map { $0.record.stored(in: $0.group) } + movedNotes
        return (stale + formerNotes).map(StoreChange.delete) + written.map(StoreChange.put)
    }
}

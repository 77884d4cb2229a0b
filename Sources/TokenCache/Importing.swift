internal import TokenModel
internal import TokenStore

/// An import on its way: a copy of the cache that each entry is held against, and what has changed in it.
struct Importing {
    private let foreign: ForeignCache
    private(set) var cache: CredentialCache
    private let group: SharingGroup
    private var skipped: SkippedEntries
    private var changes: [CacheChange] = []
    private let people: ImportedPeople
    /// The names of what is new, so that a record that changes twice counts once; by their hashes.
    private var accounts: Set<OwnerID> = []
    private var refreshTokens: Set<Int> = []
    private var accessTokens: Set<Int> = []
    private var idTokens: Set<Int> = []
    private var signIns = ImportedSignIns()
    /// Whose the names of the records in the store are, where the names do not tell.
    private var holders: [RecordKey: OwnerID] = [:]
    /// What is kept for other libraries, whatever its name: an export may have had to give it another.
    private var carried: Set<[String]> = []

    init(_ foreign: ForeignCache, into cache: CredentialCache, _ group: SharingGroup) {
        self.foreign = foreign
        self.cache = cache
        self.group = group
        skipped = foreign.skipped
        people = ImportedPeople(foreign)
        let partition = cache.partition(group)
        for (owner, holdings) in partition.owners where !owner.isUnmistakable {
            for record in holdings.records { holders[record.key(in: group)] = owner }
        }
        carried = Set(partition.carried.values.map(\.content))
        changes.reserveCapacity(foreign.entries.count + foreign.entries.count / 4)
    }

    var plan: ImportPlan {
        let report = ImportCache.Report(
            accounts: Int64(accounts.count), refreshTokens: Int64(refreshTokens.count),
            accessTokens: Int64(accessTokens.count), idTokens: Int64(idTokens.count), skipped: skipped.first,
            skippedCount: Int64(skipped.count))
        return ImportPlan(changes: changes, report: report, cache: cache)
    }

    private var partition: Partition { cache.partition(group) }

    // MARK: - Accounts

    /// The accounts first: they say who the others' owners are. What is known by name alone may turn out to be an account that
    /// comes with its identifier.
    mutating func takeAccounts() {
        for index in foreign.accountsInOrder {
            let entry = foreign.entries[index]
            guard case .account(let account) = identified(entry) else { continue }
            take(account, entry)
        }
    }

    /// One account may stand in a file several times, under realms that lead to one tenant, or under several names of a cloud.
    /// Here it is one record, which is written again as one of them. The others are kept as they are, for their library.
    private mutating func take(_ account: AccountRecord, _ entry: ForeignCache.Entry) {
        let holdings = partition[account.owner]
        let held = holdings.account(like: account, cache.clouds)
        if !entry.knowsTenant, holdings.isKnown(at: account.environment, cache.clouds) { return }
        let isSameEntry =
            !entry.isUnified
            || held.map { $0.isWritten(under: entry.askedRealm ?? account.realm, account.environment) } ?? true
        apply(.on(account, held: held, isSameEntry: isSameEntry), to: .account(account), entry)
        if !isSameEntry { keep(UnifiedItem(account, as: account.foreign), in: .account, account.homeAccountID) }
    }

    /// Keeps an entry for its library, by the name that it goes by there.
    private mutating func keep(_ item: UnifiedItem, in section: UnifiedSection, _ homeAccountID: String?) {
        let entry = CarriedRecord(
            section: section.rawValue, name: item.key(in: section), json: JSONTree.object(item.members).json,
            homeAccountID: homeAccountID, clientID: item.text("client_id")?.trimmedNonEmpty)
        if partition.carried[entry.key] != entry { save(.carried(entry)) }
    }

    // MARK: - Credentials

    /// Tokens that were asked of the tenant before those of other realms: a token may stand twice.
    mutating func takeCredentials() {
        let ages = RefreshTokenAges(foreign) { holder in
            identifier(of: holder.owner, holder.environment, holder.person).map(OwnerID.home) ?? holder.owner
        }
        let chosen = chosenRefreshTokens(ages)
        for rank in 0...2 {
            for (index, entry) in foreign.entries.enumerated() where entry.rank == rank && !entry.isAccount {
                var record = identified(entry)
                if case .refreshToken(let token) = record {
                    guard chosen.contains(index) else {
                        skip(record, "the file has another for the same that is newer, or as new")
                        continue
                    }
                    record = .refreshToken(ages.dated(token))
                }
                take(record, entry)
            }
        }
    }

    /// Of several refresh tokens of one app and account, as Python keeps them, the newest; of those as new the last.
    private func chosenRefreshTokens(_ ages: RefreshTokenAges) -> Set<Int> {
        var best: [RefreshTokenPlace: (index: Int, time: Int64)] = [:]
        for (index, entry) in foreign.entries.enumerated() {
            guard case .refreshToken = entry.record, case .refreshToken(let token) = identified(entry) else { continue }
            let time = ages.dated(token).obtainedOn ?? 0
            let place = RefreshTokenPlace(token, cache.clouds)
            if let known = best[place], known.time > time { continue }
            best[place] = (index, time)
        }
        return Set(best.values.map(\.index))
    }

    private mutating func take(_ record: CacheRecord, _ entry: ForeignCache.Entry) {
        apply(verdict(on: record), to: record, entry)
        if let realm = entry.askedRealm { signIns.noteAuthority(of: record, askedOf: realm) }
    }

    private mutating func apply(_ verdict: ImportVerdict, to record: CacheRecord, _ entry: ForeignCache.Entry) {
        if !holders.isEmpty, let holder = holders[record.key(in: group)], holder != record.owner {
            return skip(record, "its identifier could be taken for another account's")
        }
        switch verdict {
        case .skip where entry.askedRealm != nil: break
        case .skip(let reason): skip(record, reason)
        case .nothingNew: break
        case .save(let record):
            save(record)
            count(record)
        case .keep(let app): if entry.isUnified { keep(UnifiedItem(app, as: app.foreign), in: .appMetadata, nil) }
        }
    }

    private mutating func skip(_ record: CacheRecord, _ reason: String) {
        let name = record.owner.flatMap { cache.username(of: $0, in: group) }
        skipped.add(record.title(user: name), reason)
    }

    private func verdict(on record: CacheRecord) -> ImportVerdict {
        let partition = partition
        let holdings = record.owner.map { partition[$0] } ?? Holdings()
        return switch record {
        case .accessToken(let token): .on(token, held: holdings.accessToken(like: token, cache.clouds))
        case .refreshToken(let token): .on(token, held: holdings.refreshToken(like: token, cache.clouds))
        case .idToken(let token): .on(token, held: holdings.idToken(sameAs: token, cache.clouds))
        case .appMetadata(let app): .on(app, held: held(app, in: partition))
        case .accountMetadata(let metadata):
            holdings.holds(record) ? .nothingNew : .save(.accountMetadata(metadata))
        case .account, .principal: .nothingNew
        case .carried(let entry): carried.contains(entry.content) ? .nothingNew : .save(record)
        }
    }

    private func held(_ app: AppMetadataRecord, in partition: Partition) -> AppMetadataRecord? {
        partition.apps[app.key]
            ?? partition.apps.values.filter {
                $0.clientID.lowercased() == app.clientID.lowercased()
                    && cache.clouds.sameCloud($0.environment, app.environment)
            }.min { $0.key < $1.key }
    }

    private mutating func save(_ record: CacheRecord) {
        changes.append(.save(record))
        if let owner = record.owner, !owner.isUnmistakable { holders[record.key(in: group)] = owner }
        if case .carried(let entry) = record { carried.insert(entry.content) }
        cache.apply([.save(record)], in: group)
    }

    private mutating func count(_ record: CacheRecord) {
        switch record {
        case .account(let record): accounts.insert(record.owner)
        case .accessToken(let token):
            accessTokens.insert(token.key.hashValue)
            signIns.note(token.owner, token.clientID)
        case .refreshToken(let token):
            refreshTokens.insert(token.key.hashValue)
            signIns.note(token.owner, token.clientID)
        case .idToken(let token):
            idTokens.insert(token.key.hashValue)
            signIns.note(token.owner, token.clientID)
        case .appMetadata, .accountMetadata, .carried, .principal: break
        }
    }

    // MARK: - Who it is

    private func identified(_ entry: ForeignCache.Entry) -> CacheRecord {
        guard let owner = entry.record.owner,
            let identifier = identifier(of: owner, entry.record.environment, entry.person)
        else { return entry.record }
        return entry.record.moved(to: identifier)
    }

    /// An account known by name alone is the one that the tenant's directory says it is, where the cache has that one.
    private func identifier(
        of owner: OwnerID, _ environment: String?, _ person: ForeignCache.Person?
    ) -> HomeAccountID? {
        guard case .name(let name) = owner else { return nil }
        let people = person.map { [$0] } ?? people.named(name, at: environment, cache.clouds)
        return people.isEmpty
            ? sole(named: name, at: environment)
            : people.lazy.compactMap { self.identifier(of: $0, named: name) }.first
    }

    private func identifier(of person: ForeignCache.Person, named name: String) -> HomeAccountID? {
        let partition = partition
        return partition.owners(named: name).first { owner in
            owner.homeAccountID?.text == "\(person.objectID).\(person.tenantID)"
                || owner.homeAccountID != nil
                    && partition[owner].accounts.values.contains {
                        $0.realm == person.tenantID && $0.localAccountID == person.objectID
                    }
        }?.homeAccountID
    }

    /// Where nothing says who it is in a directory, an account is whom ADAL would find by the name: the only one in the
    /// cloud that goes by it. ADAL knows no personal accounts.
    private func sole(named name: String, at environment: String?) -> HomeAccountID? {
        guard let environment else { return nil }
        let candidates = partition.owners(named: name).filter { owner in
            !owner.isPersonal && partition[owner].isKnown(at: environment, cache.clouds)
        }
        return candidates.count == 1 ? candidates.first?.homeAccountID : nil
    }

    // MARK: - Signed in

    /// Apps whose tokens were imported are signed in, whatever was before; and find their tokens by the authorities that
    /// led to them, also those that the cache had already.
    mutating func signIn() {
        for metadata in signIns.metadata(in: partition, cache.clouds) { save(.accountMetadata(metadata)) }
    }
}

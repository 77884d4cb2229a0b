package import TokenCache
package import TokenModel

/// The changes of an import, which are applied together, and its report.
package struct ImportPlan: Sendable {
    package var changes: [CacheChange]
    package var report: ImportCache.Report
}

extension CredentialCache {
    /// Compares a cache of another library with this one, and plans the import. The cache itself is not changed.
    ///
    /// Importing the same cache twice changes nothing. A token is replaced only by one that is not older, by the times in both
    /// caches.
    ///
    /// - Parameters:
    ///   - keepsSignOuts: see `ImportCache.keepsSignOuts`.
    ///   - check: called before each entry; what it throws ends the comparison.
    package func changes<Failure: Error>(
        importing foreign: ForeignCache, in group: SharingGroup, keepsSignOuts: Bool = false,
        check: () throws(Failure) -> Void
    ) throws(Failure) -> ImportPlan {
        var merge = ImportMerge(foreign, into: self, group, keepsSignOuts: keepsSignOuts)
        try merge.mergeAccounts(check)
        try merge.mergeCredentials(check)
        merge.saveSignIns()
        return merge.plan
    }

    /// The accounts whose tokens `changes(importing:in:keepsSignOuts:check:)` compares with those of the file: the accounts that the
    /// file names and, since an account without an identifier may be one of them, those that have its username. Some may be unknown here.
    ///
    /// - Parameter check: called before each entry; what it throws ends the search.
    package func accounts<Failure: Error>(
        comparedWith foreign: ForeignCache, in group: SharingGroup, check: () throws(Failure) -> Void
    ) throws(Failure) -> Set<AccountKey> {
        let partition = partition(group)
        var accounts: Set<AccountKey> = []
        var names: Set<ExactText> = []
        for entry in foreign.entries {
            try check()
            guard let account = entry.record.header.account, accounts.insert(account).inserted else { continue }
            if let name = account.name { names.insert(ExactText(name)) }
        }
        // Each name once, since very many issuers may have accounts with it.
        for name in names.map(\.text) {
            try check()
            let named = partition.accounts(named: name).filter {
                accounts.contains(AccountKey(issuer: $0.issuer, identity: .name(name)))
            }
            accounts.formUnion(named)
        }
        return accounts
    }
}

/// The merge of a foreign cache into a copy of the agent's, with the changes so far.
private struct ImportMerge {
    private let foreign: ForeignCache
    private var cache: CredentialCache
    private let group: SharingGroup
    private var skipped: SkippedEntries
    private var changes: [CacheChange] = []
    private let users: ImportedUsers
    private var named: NamedAccounts
    /// The hashes of the keys of new records: a record that changes twice is counted once.
    private var accounts: Set<AccountKey> = []
    private var refreshTokens: Set<Int> = []
    private var accessTokens: Set<Int> = []
    private var idTokens: Set<Int> = []
    private var signIns = ImportedSignIns()
    /// The sign-outs that the import does not undo.
    private let signOuts: SignOuts?
    /// The accounts of stored records whose keys do not identify them.
    private var ambiguousKeys: [StoreKey: AccountKey] = [:]
    /// The contents of the opaque records. Their names do not identify them: an export may change a name.
    private var opaqueContents: Set<[ExactText]> = []

    init(_ foreign: ForeignCache, into cache: CredentialCache, _ group: SharingGroup, keepsSignOuts: Bool) {
        self.foreign = foreign
        self.cache = cache
        self.group = group
        skipped = foreign.skipped
        users = ImportedUsers(foreign)
        let partition = cache.partition(group)
        named = NamedAccounts(foreign, in: partition)
        signOuts = keepsSignOuts ? SignOuts(partition) : nil
        for account in partition.accountKeys where !account.hasUnambiguousKeys {
            for record in partition[account].records { ambiguousKeys[StoreKey(record)] = account }
        }
        opaqueContents = Set(partition.opaqueRecords.values.map { $0.content.map(ExactText.init) })
        changes.reserveCapacity(foreign.entries.count + foreign.entries.count / 4)
    }

    var plan: ImportPlan {
        let report = ImportCache.Report(
            accounts: Int64(accounts.count), refreshTokens: Int64(refreshTokens.count),
            accessTokens: Int64(accessTokens.count), idTokens: Int64(idTokens.count), skipped: skipped.first,
            skippedCount: Int64(skipped.count))
        return ImportPlan(changes: changes, report: report)
    }

    private var partition: Partition { cache.partition(group) }

    // MARK: Accounts

    /// Merges the accounts. They come before the credentials, whose accounts they identify: an account that is known by its
    /// username may be one that the file lists with its identifier.
    mutating func mergeAccounts<Failure: Error>(_ check: () throws(Failure) -> Void) throws(Failure) {
        for index in foreign.accountsInOrder {
            try check()
            let entry = foreign.entries[index]
            guard case .account(let account) = identified(entry) else { continue }
            if signOuts?.include(account.account, entry.user, app: nil) == true { continue }
            merge(account, entry)
        }
    }

    /// Merges an account. A file may list one account several times, under realms that lead to one tenant or under several names
    /// of a cloud. The cache has one record of it, which is exported as one of these entries; the others are kept as opaque
    /// records.
    private mutating func merge(_ account: AccountRecord, _ entry: ForeignCache.Entry) {
        let credentials = partition[account.account]
        let held =
            credentials.account(like: account, cache.clouds)
            ?? (entry.mayBeOfAnyTenant ? credentials.account(ofUserLike: account, cache.clouds) : nil)
        if !entry.knowsTenant, credentials.isKnown(at: account.environment, cache.clouds) { return }
        let isSameEntry =
            !entry.isUnified
            || held.map { $0.isWritten(under: entry.requestedRealm ?? account.realm, account.environment) } ?? true
        let isOfADAL = !entry.isUnified && account.source == AccountRecord.adalSource
        let userID = isOfADAL ? account.username.trimmedNonEmpty?.lowercased() : nil
        // The agent's own export has one name of the account at every tenant.
        let isKnown = credentials.accounts.values.contains { $0.names.contains { $0.trimmedNonEmpty == userID } }
        let decision = MergeDecision.on(
            account, held: held, isSameEntry: isSameEntry, adalUserID: isKnown ? nil : userID)
        apply(decision, to: .account(account), entry)
        if !isSameEntry { keep(account.exported, in: .account, account.homeAccountID) }
    }

    /// Keeps an entry for its library as an opaque record, under the entry's name there.
    private mutating func keep(_ item: UnifiedItem, in section: UnifiedSection, _ homeAccountID: String?) {
        let entry = OpaqueRecord(
            section: section.rawValue, name: item.key(in: section), json: item.tree.json,
            homeAccountID: homeAccountID, clientID: item.text(.clientID)?.trimmedNonEmpty)
        if partition.opaqueRecords[entry.key] != entry { save(.opaque(entry)) }
    }

    // MARK: Credentials

    /// Merges the credentials. Tokens that were requested from the tenant come before those of other realms, which may repeat
    /// them.
    mutating func mergeCredentials<Failure: Error>(_ check: () throws(Failure) -> Void) throws(Failure) {
        let ages = RefreshTokenAges(foreign) { holder in
            identifier(of: holder.account, holder.environment, holder.user).map(holder.account.with) ?? holder.account
        }
        let chosen = chosenRefreshTokens(ages)
        for index in foreign.credentialsInOrder {
            try check()
            let entry = foreign.entries[index]
            var record = identified(entry)
            if let signOuts, let account = record.header.account,
                signOuts.include(account, entry.user, app: record.app)
            {
                skip(record, "the app has signed out of the account")
                continue
            }
            if case .refreshToken(let token) = record {
                guard chosen.contains(index) else {
                    skip(record, "the file has another for the same that is newer, or as new")
                    continue
                }
                record = .refreshToken(bound(ages.dated(token)))
            }
            merge(record, entry)
        }
    }

    /// The token with its binding: the file's, if the agent wrote it, or else the one that follows from its account.
    private func bound(_ token: RefreshTokenRecord) -> RefreshTokenRecord {
        guard token.binding == nil else { return token }
        var token = token
        token.binding = partition[token.account].derivedBinding(of: token, cache.clouds)
        return token
    }

    /// The entries of the newest refresh token of each app and account, of equally new ones the last without an old name. MSAL for Python
    /// keeps several.
    private func chosenRefreshTokens(_ ages: RefreshTokenAges) -> Set<Int> {
        var best: [RefreshTokenScope: (index: Int, age: (Int64, Int))] = [:]
        for (index, entry) in foreign.entries.enumerated() {
            guard case .refreshToken = entry.record, case .refreshToken(let token) = identified(entry) else { continue }
            let age = (ages.dated(token).obtainedOn ?? 0, entry.hasOldName ? 0 : 1)
            let scope = RefreshTokenScope(token, cache.clouds)
            if let known = best[scope], known.age > age { continue }
            best[scope] = (index, age)
        }
        return Set(best.values.map(\.index))
    }

    private mutating func merge(_ record: CacheRecord, _ entry: ForeignCache.Entry) {
        apply(decision(on: record), to: record, entry)
        if let realm = entry.requestedRealm { signIns.noteAuthority(of: record, requestedFrom: realm) }
    }

    private mutating func apply(_ decision: MergeDecision, to record: CacheRecord, _ entry: ForeignCache.Entry) {
        if !ambiguousKeys.isEmpty, let account = ambiguousKeys[StoreKey(record)], account != record.header.account {
            return skip(record, "its identifier could be taken for another account's")
        }
        switch decision {
        case .skip where entry.requestedRealm != nil: break
        case .skip(let reason): skip(record, reason)
        case .nothingNew: break
        case .save(let record):
            save(record)
            count(record)
        case .keep(let app): if entry.isUnified { keep(app.exported, in: .appMetadata, nil) }
        }
    }

    private mutating func skip(_ record: CacheRecord, _ reason: String) {
        // Finding the name takes a time in proportion to the account's records.
        guard skipped.namesNext else { return skipped.add("", reason) }
        let name = record.header.account.flatMap { cache.username(of: $0, in: group) }
        skipped.add(record.title(user: name), reason)
    }

    private func decision(on record: CacheRecord) -> MergeDecision {
        let partition = partition
        let credentials = record.header.account.map { partition[$0] } ?? AccountCredentials()
        return switch record {
        case .accessToken(let token):
            .on(token, held: credentials.accessToken(like: token, cache.clouds), now: foreign.now)
        case .refreshToken(let token):
            .on(token, held: credentials.refreshToken(like: token, cache.clouds), now: foreign.now)
        case .idToken(let token): .on(token, held: credentials.idToken(sameAs: token, cache.clouds))
        case .appMetadata(let app): .on(app, held: held(app, in: partition))
        case .accountMetadata(let metadata):
            credentials.contains(record) ? .nothingNew : .save(.accountMetadata(metadata))
        case .account, .currentAccount: .nothingNew
        case .opaque(let entry):
            opaqueContents.contains(entry.content.map(ExactText.init)) ? .nothingNew : .save(record)
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
        if let account = record.header.account, !account.hasUnambiguousKeys {
            ambiguousKeys[StoreKey(record)] = account
        }
        if case .opaque(let entry) = record { opaqueContents.insert(entry.content.map(ExactText.init)) }
        guard case .account(let account) = record, !named.isEmpty else {
            return cache.apply([.save(record)], in: group)
        }
        let old = partition[account.account].accounts[account.key]
        cache.apply([.save(record)], in: group)
        named.add(account, replacing: old, among: partition[account.account])
    }

    private mutating func count(_ record: CacheRecord) {
        switch record {
        // Tokens without a user are no account that a list has.
        case .account(let record): if !record.account.isUnnamed { accounts.insert(record.account) }
        case .accessToken(let token):
            accessTokens.insert(token.key.hashValue)
            signIns.note(token.account, token.clientID)
        case .refreshToken(let token):
            refreshTokens.insert(token.key.hashValue)
            signIns.note(token.account, token.clientID)
        case .idToken(let token):
            idTokens.insert(token.key.hashValue)
            signIns.note(token.account, token.clientID)
        default: break
        }
    }

    // MARK: Identification of accounts

    /// The entry's record, assigned to the identifier of its account if that is known.
    private func identified(_ entry: ForeignCache.Entry) -> CacheRecord {
        let header = entry.record.header
        guard let account = header.account,
            let identifier = identifier(of: account, header.environment, entry.user)
        else { return entry.record }
        return entry.record.assigned(to: account.with(identifier))
    }

    /// The identifier of an account that is known by its username: that of the account in the cache that is the same user of the
    /// tenant's directory.
    private func identifier(
        of account: AccountKey, _ environment: String?, _ user: ForeignCache.DirectoryUser?
    ) -> HomeAccountID? {
        guard let name = account.name else { return nil }
        let users = user.map { [$0] } ?? users.named(name, at: environment, cache.clouds)
        guard users.isEmpty else {
            return users.lazy.compactMap { named.identifier(of: $0, named: name, account.issuer) }.first
        }
        // ADAL finds accounts in the same way, and has no personal accounts.
        return environment.flatMap { named.soleIdentifier(named: name, of: account.issuer, at: $0, cache.clouds) }
    }

    // MARK: Sign-ins

    /// Records that the apps whose tokens were imported are signed in, also after a sign-out, and the authorities that lead to
    /// their tokens.
    mutating func saveSignIns() {
        for metadata in signIns.metadata(in: partition, cache.clouds) {
            // A token of a family is imported for its other apps.
            let hasSignedOut = signOuts?.include(metadata.account, nil, app: ClientID(metadata.clientID)) == true
            if !hasSignedOut { save(.accountMetadata(metadata)) }
        }
    }
}

extension CacheRecord {
    /// The app to which the record belongs; nil for an account, and for what a family of apps shares.
    fileprivate var app: ClientID? {
        switch self {
        case .accessToken(let token): token.clientID
        case .refreshToken(let token): token.familyID == nil ? token.clientID : nil
        case .idToken(let token): token.clientID
        case .accountMetadata(let metadata): ClientID(metadata.clientID)
        default: nil
        }
    }
}

/// The accounts that had signed out before an import.
private struct SignOuts {
    private let partition: Partition

    init(_ partition: Partition) { self.partition = partition }

    /// Whether an app has signed out of an account, or the account was signed out everywhere.
    ///
    /// - Parameters:
    ///   - user: the user in a tenant's directory whom the file names.
    ///   - app: nil for a record that belongs to no app.
    func include(_ account: AccountKey, _ user: ForeignCache.DirectoryUser?, app: ClientID?) -> Bool {
        // After a sign-out everywhere, a username does not lead to the identifier any more.
        let identified = account.name == nil ? nil : user.flatMap { HomeAccountID("\($0.objectID).\($0.tenantID)") }
        return ([account] + (identified.map { [account.with($0)] } ?? [])).contains { account in
            let held = partition[account]
            if let app, held.metadata[app.key]?.signInState == .signedOut { return true }
            return held.accounts.isEmpty && held.metadata.values.contains { $0.signInState == .signedOut }
        }
    }
}

/// The key of a record in the store, within a sharing group.
private struct StoreKey: Hashable {
    private let kind: Int32
    private let key: ExactText

    init(_ record: CacheRecord) {
        kind = record.kindNumber
        key = ExactText(record.content.key)
    }
}

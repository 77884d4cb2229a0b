package import TokenModel
internal import TokenStore

/// What an import comes to: the steps to take, all or none of them, and what to say of it.
package struct ImportPlan: Sendable {
    package var changes: [CacheChange]
    package var report: ImportCache.Report
}

extension CredentialCache {
    /// Holds a cache of another library against this one; nothing changes yet.
    ///
    /// What is known already changes nothing. A token that the cache holds gives way only to one that is known to be
    /// newer: by the times that both sides wrote down, never by a guess.
    package func changes(importing foreign: ForeignCache, in group: SharingGroup) -> ImportPlan {
        var importing = Importing(self, group, skipped: foreign.skipped)
        for rank in 0...2 {
            for entry in foreign.entries where entry.rank == rank { importing.take(entry) }
        }
        importing.signIn()
        return importing.plan
    }
}

extension CredentialCache {
    /// The refresh tokens in the cache that `changes` would overwrite.
    package func refreshTokens(replacedBy changes: [CacheChange], in group: SharingGroup) -> [Secret] {
        let partition = partition(group)
        return changes.compactMap { change in
            guard case .save(.refreshToken(let token)) = change else { return nil }
            return partition[token.owner].refreshTokens[token.key]?.secret
        }
    }
}

extension ForeignCache.Entry {
    /// When it is held against the cache. What is known by name alone may turn out to be an account that comes with its
    /// identifier; and a token may stand twice, once under the realm that it was asked of.
    fileprivate var rank: Int {
        if askedRealm != nil { return 1 }
        return record.owner?.homeAccountID == nil ? 2 : 0
    }
}

/// An import on its way: a copy of the cache that each entry is held against, and what has changed in it.
private struct Importing {
    private var cache: CredentialCache
    private let group: SharingGroup
    private var skipped: [ImportCache.Skipped]
    private var changes: [CacheChange] = []
    /// The names of what is new, so that a record that changes twice counts once.
    private var accounts: Set<OwnerID> = []
    private var refreshTokens: Set<String> = []
    private var accessTokens: Set<String> = []
    private var idTokens: Set<String> = []
    /// Apps that have got tokens, in order, and which authorities led them to which.
    private var signedIn: [SignIn] = []
    private var authorities: [SignIn: [String: String]] = [:]
    /// Whose the names of the records in the store are.
    private var holders: [RecordKey: OwnerID] = [:]
    /// What is kept for other libraries, whatever its name: an export may have had to give it another.
    private var carried: Set<[String]> = []

    /// An app, and an account that it has got tokens of.
    private struct SignIn: Hashable {
        var owner: OwnerID
        var clientID: ClientID
    }

    init(_ cache: CredentialCache, _ group: SharingGroup, skipped: [ImportCache.Skipped]) {
        self.cache = cache
        self.group = group
        self.skipped = skipped
        let partition = cache.partition(group)
        for owner in partition.owners.keys {
            for record in partition[owner].records { holders[record.key(in: group)] = owner }
        }
        carried = Set(partition.carried.values.map(\.content))
    }

    var plan: ImportPlan {
        let report = ImportCache.Report(
            accounts: Int64(accounts.count), refreshTokens: Int64(refreshTokens.count),
            accessTokens: Int64(accessTokens.count), idTokens: Int64(idTokens.count), skipped: skipped,
            skippedCount: Int64(skipped.count))
        return ImportPlan(changes: changes, report: report)
    }

    private var partition: Partition { cache.partition(group) }

    mutating func take(_ entry: ForeignCache.Entry) {
        let record = identified(entry)
        if let holder = holders[record.key(in: group)], holder != record.owner {
            let reason = "its identifier could be taken for another account's"
            return skipped.append(ImportCache.Skipped(entry: entry.title, reason: reason))
        }
        switch verdict(on: record, knowsTenant: entry.knowsTenant) {
        case .skip where entry.askedRealm != nil: break
        case .skip(let reason): skipped.append(ImportCache.Skipped(entry: entry.title, reason: reason))
        case .nothingNew: break
        case .save(let record):
            save(record)
            count(record)
        }
        noteAuthority(of: record, entry.askedRealm)
        if case .account(let account) = record { keep(entry.original, of: account, entry.askedRealm) }
    }

    /// Where the realm that a token was asked of led to: how apps find the token, and under what name it is exported.
    private mutating func noteAuthority(of record: CacheRecord, _ askedRealm: String?) {
        guard let askedRealm else { return }
        switch record {
        case .accessToken(let token): note(token.owner, token.clientID, token.environment, askedRealm, token.realm)
        case .idToken(let token): note(token.owner, token.clientID, token.environment, askedRealm, token.realm)
        case .account, .refreshToken, .appMetadata, .accountMetadata, .carried, .principal: break
        }
    }

    private mutating func note(
        _ owner: OwnerID, _ clientID: ClientID, _ environment: String, _ askedRealm: String, _ issuer: String
    ) {
        let pair = SignIn(owner: owner, clientID: clientID)
        guard authorities[pair, default: [:]].count < Self.mostRealms else { return }
        authorities[pair, default: [:]]["https://\(environment)/\(askedRealm)"] = "https://\(environment)/\(issuer)"
    }

    /// How many realms may have led an app to an account's tenants: every token is exported under each of them.
    private static let mostRealms = 16

    /// One account may stand in a file several times, under realms that lead to one tenant. Here it is one record, which
    /// is written again under one of them; its library wants the others, too.
    private mutating func keep(_ original: CarriedRecord?, of account: AccountRecord, _ askedRealm: String?) {
        guard let original, let held = partition[account.owner].account(like: account, cache.clouds) else { return }
        let written = UnifiedItem(held, as: held.foreign)
        let isUnderRealm = (written.text("realm")?.lowercased() ?? account.realm) == askedRealm ?? account.realm
        // What the agent saved itself goes by any of its cloud's names.
        let isUnderName =
            held.foreign == nil || written.text("environment")?.lowercased() == account.environment
        guard !isUnderRealm || !isUnderName, partition.carried[original.key] != original else { return }
        save(.carried(original))
    }

    private mutating func save(_ record: CacheRecord) {
        changes.append(.save(record))
        holders[record.key(in: group)] = record.owner
        if case .carried(let entry) = record { carried.insert(entry.content) }
        cache.apply([.save(record)], in: group)
    }

    private mutating func count(_ record: CacheRecord) {
        switch record {
        case .account(let record): accounts.insert(record.owner)
        case .accessToken(let token):
            accessTokens.insert(token.key)
            signedIn.append(SignIn(owner: token.owner, clientID: token.clientID))
        case .refreshToken(let token):
            refreshTokens.insert(token.key)
            signedIn.append(SignIn(owner: token.owner, clientID: token.clientID))
        case .idToken(let token):
            idTokens.insert(token.key)
            signedIn.append(SignIn(owner: token.owner, clientID: token.clientID))
        case .appMetadata, .accountMetadata, .carried, .principal: break
        }
    }

    /// An account known by name alone is the one that the tenant's directory says it is, where the cache has that one.
    private func identified(_ entry: ForeignCache.Entry) -> CacheRecord {
        guard case .name(let name) = entry.record.owner else { return entry.record }
        let identifier =
            if let person = entry.person { identifier(of: person, named: name) } else { sole(named: name, for: entry) }
        return identifier.map(entry.record.moved) ?? entry.record
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
    private func sole(named name: String, for entry: ForeignCache.Entry) -> HomeAccountID? {
        guard let environment = entry.record.environment else { return nil }
        let candidates = partition.owners(named: name).filter { owner in
            !owner.isPersonal && partition[owner].isKnown(at: environment, cache.clouds)
        }
        return candidates.count == 1 ? candidates.first?.homeAccountID : nil
    }

    private func verdict(on record: CacheRecord, knowsTenant: Bool) -> ImportVerdict {
        let partition = partition
        let holdings = record.owner.map { partition[$0] } ?? Holdings()
        return switch record {
        case .account(let record) where !knowsTenant && holdings.isKnown(at: record.environment, cache.clouds):
            .nothingNew
        case .account(let record): .on(record, held: holdings.account(like: record, cache.clouds))
        case .accessToken(let token): .on(token, held: holdings.accessToken(like: token, cache.clouds))
        case .refreshToken(let token): .on(token, held: holdings.refreshToken(like: token, cache.clouds))
        case .idToken(let token): .on(token, held: holdings.idToken(sameAs: token, cache.clouds))
        case .appMetadata(let app): .on(app, held: held(app, in: partition))
        case .accountMetadata(let metadata):
            holdings.holds(record) ? .nothingNew : .save(.accountMetadata(metadata))
        case .principal: .nothingNew
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

    /// Apps whose tokens were imported are signed in, whatever was before; and find their tokens by the authorities that
    /// led to them.
    mutating func signIn() {
        var seen: Set<SignIn> = []
        for pair in signedIn where seen.insert(pair).inserted && !pair.clientID.key.hasPrefix(ADALEntry.familyPrefix) {
            let known = partition[pair.owner].metadata[pair.clientID.key]
            var metadata =
                known
                ?? AccountMetadataRecord(
                    owner: pair.owner, clientID: pair.clientID, signInState: .signedIn, authorityMap: [:])
            metadata.signInState = .signedIn
            var places = Set(metadata.authorityMap.keys.compactMap(place(of:)))
            for (asked, issuer) in (authorities[pair] ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let place = place(of: asked), places.insert(place).inserted else { continue }
                metadata.authorityMap[asked] = issuer
            }
            if metadata != known { save(.accountMetadata(metadata)) }
        }
    }

    /// What an authority asks, under whatever name of its cloud.
    private func place(of authority: String) -> [String]? {
        AskedRealm(authority).map {
            [$0.realm, URLParts.host(ofEnvironment: cache.clouds.cloud(of: $0.environment).preferredCache)]
        }
    }
}

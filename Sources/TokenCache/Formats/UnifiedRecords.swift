internal import TokenModel
internal import TokenStore

/// A sharing group's records as entries of the schema that MSAL's libraries share.
struct UnifiedRecords {
    let partition: Partition
    let clouds: CloudDirectory
    let now: Int64

    /// An account's entries in a section, by name.
    func entries(of owner: OwnerID, in section: UnifiedSection) -> [(name: String, entry: JSONTree)] {
        let holdings = partition[owner]
        var entries: [(name: String, entry: JSONTree)] = []
        var copies: [(name: String, entry: JSONTree)] = []
        for record in Self.records(holdings, for: section) {
            if case .accessToken(let token) = record, token.expiresOn <= now { continue }
            guard let place = place(of: record) else {
                if section == .own, let own = Self.own(record) { entries.append(own) }
                continue
            }
            guard place == section else { continue }
            let asked = askedCopies(of: record, holdings)
            copies += asked.compactMap { entry(of: $0, in: section) }
            // No library asks B2C for a tenant by its identifier, and Node takes a second entry for another token.
            let isB2C = record.environment?.hasSuffix(UnifiedTenants.b2cHosts) == true
            if asked.isEmpty || !isB2C, let entry = entry(of: record, in: section) { entries.append(entry) }
        }
        // Of two tenants that one realm has led to, each is written under its own.
        var names = Set(entries.map(\.name))
        entries += copies.filter { names.insert($0.name).inserted }
        return entries.sorted { $0.name < $1.name }
    }

    /// The records that may have a place in a section; any may be one of the agent's own. Tokens in order, since of two that one
    /// realm has led to the first stands under that realm.
    private static func records(_ holdings: Holdings, for section: UnifiedSection) -> [CacheRecord] {
        switch section {
        case .account: holdings.accounts.values.map(CacheRecord.account)
        case .idToken: holdings.idTokens.sorted { $0.key < $1.key }.map { .idToken($0.value) }
        case .refreshToken: holdings.refreshTokens.values.map(CacheRecord.refreshToken)
        case .accessToken: holdings.accessTokens.sorted { $0.key < $1.key }.map { .accessToken($0.value) }
        case .own: holdings.records
        case .appMetadata: []
        }
    }

    private func entry(of record: CacheRecord, in section: UnifiedSection) -> (name: String, entry: JSONTree)? {
        unified(record).map { (name: $0.1.key(in: section), entry: .object($0.1.members)) }
    }

    /// Python and Go find a token by the realm that they ask, `common` for one, and not by the tenant that this leads to:
    /// for them it stands under every realm that has led there. So does the ID token, without which nobody could tell
    /// which tenant issued the copy.
    private func askedCopies(of record: CacheRecord, _ holdings: Holdings) -> [CacheRecord] {
        switch record {
        case .accessToken(var token) where token.version == .v2 && !Self.namesNoRealm(token.foreign):
            let realms = askedRealms(of: token.owner, token.clientID, token.realm, token.environment, holdings)
            if !realms.isEmpty { token.foreign = Self.withoutRealm(token.foreign) }
            return realms.map { realm in
                token.realm = realm
                return .accessToken(token)
            }
        case .idToken(var token) where token.version == .v2 && !Self.namesNoRealm(token.foreign):
            let realms = askedRealms(of: token.owner, token.clientID, token.realm, token.environment, holdings)
            if !realms.isEmpty { token.foreign = Self.withoutRealm(token.foreign) }
            return realms.compactMap { token.asked(of: $0).map(CacheRecord.idToken) }
        case .account, .accessToken, .idToken, .refreshToken, .appMetadata, .accountMetadata, .carried, .principal:
            return []
        }
    }

    /// The realms that led an app to a tenant, without the tenant.
    private func askedRealms(
        of owner: OwnerID, _ clientID: ClientID, _ tenant: String, _ environment: String, _ holdings: Holdings
    ) -> [String] {
        let map = holdings.metadata[clientID.key]?.authorityMap ?? [:]
        return map.compactMap { asked, issuer in
            guard let asked = AskedRealm(asked), let issuer = AskedRealm(issuer), asked.realm != tenant,
                clouds.sameCloud(asked.environment, environment)
            else { return nil }
            // A B2C account is in one tenant only, which an authority without `tfp` does not lead to by name.
            let isB2C = asked.authority?.kind == .b2c && asked.authority?.admits(owner) == true
            return issuer.realm == tenant || isB2C ? asked.realm : nil
        }.sorted()
    }

    /// Whether it came from a library that names no realm, and would find a second entry as well as the first.
    private static func namesNoRealm(_ foreign: String?) -> Bool {
        foreign.flatMap(Self.tree)?["realm"].map { $0.string == nil } ?? false
    }

    private static func withoutRealm(_ foreign: String?) -> String? {
        guard let foreign else { return nil }
        var item = UnifiedItem()
        item.take(foreign: foreign)
        item.drop("realm")
        return JSONTree.object(item.members).json
    }

    /// The section of the schema that has a place for a record; nil when none has.
    private func place(of record: CacheRecord) -> UnifiedSection? {
        if let owner = record.owner, owner.homeAccountID == nil { return nil }
        switch record {
        case .account: return .account
        // A v1 token answers another question than a v2 one; MSAL never uses ADAL's.
        case .accessToken(let token) where token.version == .v2: return .accessToken
        case .idToken(let token) where token.version == .v2: return .idToken
        // In the schema every refresh token serves every resource.
        case .refreshToken(let token) where token.only == nil: return .refreshToken
        case .appMetadata: return .appMetadata
        case .accessToken, .idToken, .refreshToken, .accountMetadata, .carried, .principal: return nil
        }
    }

    /// The record in the schema; nil when that has no place for it.
    func unified(_ record: CacheRecord) -> (UnifiedSection, UnifiedItem)? {
        guard let section = place(of: record) else { return nil }
        switch record {
        case .account(let record): return (section, item(UnifiedItem(record), record.foreign))
        case .accessToken(let token): return (section, item(UnifiedItem(token), token.foreign))
        case .idToken(let token): return (section, item(UnifiedItem(token), token.foreign))
        case .refreshToken(let token): return (section, item(UnifiedItem(token), token.foreign))
        case .appMetadata(let app): return (section, item(UnifiedItem(app), app.foreign))
        case .accountMetadata, .carried, .principal: return nil
        }
    }

    /// What came from another library is written under the environment it had. The agent's own is written under the name
    /// that the cloud is asked at, without a port: other libraries know aliases, Python's only by asking the network.
    private func item(_ item: UnifiedItem, _ foreign: String?) -> UnifiedItem {
        var item = item
        if let foreign {
            item.take(foreign: foreign)
        } else if let environment = item.text("environment") {
            let network = clouds.cloud(of: environment).preferredNetwork
            item.replace("environment", with: URLParts.host(ofEnvironment: network))
        }
        return item
    }

    private static func own(_ record: CacheRecord) -> (name: String, entry: JSONTree)? {
        guard let stored = try? record.stored(in: .standard), let tree = try? JSONReader.read(stored.body) else {
            return nil
        }
        let entry = JSONTree.object([
            JSONTree.Member(name: "kind", value: .number("\(stored.key.kind.rawValue)")),
            JSONTree.Member(name: "record", value: tree.sorted),
        ])
        return (name: "\(stored.key.kind.rawValue):\(stored.key.key)", entry: entry)
    }

    static func tree(_ json: String) -> JSONTree? { try? JSONReader.read(Array(json.utf8)) }
}

extension UnifiedItem {
    /// The name that most libraries would give the entry; Python's where it wrote the entry, since it rewrites by name.
    func key(in section: UnifiedSection) -> String {
        func part(_ name: String) -> String { text(name) ?? "" }
        let owner = "\(part("home_account_id"))-\(part("environment"))"
        let client = part("client_id")
        switch section {
        case .account: return "\(owner)-\(part("realm"))".lowercased()
        case .idToken: return "\(owner)-idtoken-\(client)-\(part("realm"))-".lowercased()
        case .accessToken: return "\(owner)-accesstoken-\(client)-\(part("realm"))-\(keyTarget ?? "")".lowercased()
        case .refreshToken:
            if let target = keyTarget { return "\(owner)-refreshtoken-\(client)--\(target)".lowercased() }
            return "\(owner)-refreshtoken-\(text("family_id") ?? client)--".lowercased()
        // Python looks this one up by its name, and does not change the case of the client ID.
        case .appMetadata: return "appmetadata-\(part("environment"))-\(client)"
        case .own: return ""
        }
    }

    /// The scopes as they stand in a name: early Python, which writes them as a list, sorts them.
    private var keyTarget: String? {
        if let text = text("target") { return text }
        let list = self["target"]?.values.compactMap(\.string) ?? []
        return list.isEmpty ? nil : list.sorted().joined(separator: " ")
    }
}

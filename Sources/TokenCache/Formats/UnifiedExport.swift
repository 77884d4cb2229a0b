internal import TokenModel
internal import TokenStore

/// A sharing group's part of the cache as the JSON that MSAL's libraries share.
struct UnifiedExport {
    private let clouds: CloudDirectory
    private let now: Int64
    private var sections: [UnifiedSection: [String: JSONTree]] = [:]
    private var foreign: [CarriedRecord] = []

    init(_ partition: Partition, clouds: CloudDirectory, now: Int64) {
        self.clouds = clouds
        self.now = now
        for owner in partition.owners.keys.sorted(by: { $0.key < $1.key }) {
            let holdings = partition[owner]
            for record in holdings.records {
                let isWritten = addAsAsked(record, holdings)
                // No library asks B2C for a tenant by its identifier, and Node takes a second entry for another token.
                let isB2C = record.environment?.hasSuffix(UnifiedTenants.b2cHosts) == true
                if !isWritten || !isB2C { add(record) }
            }
        }
        for app in partition.apps.values.sorted(by: { $0.key < $1.key }) { add(.appMetadata(app)) }
        foreign = partition.carried.values.sorted { $0.key < $1.key }
    }

    /// The JSON. Sections and entries stand in a fixed order, so that the same cache gives the same text.
    var json: String {
        var members: [JSONTree.Member] = []
        for section in UnifiedSection.allCases {
            var entries = sections[section] ?? [:]
            for entry in foreign where entry.section == section.rawValue {
                if let name = entry.name, let tree = Self.tree(entry.json) { Self.add(tree, name, to: &entries) }
            }
            guard section != .own || !entries.isEmpty else { continue }
            let sorted = entries.sorted { $0.key < $1.key }.map { JSONTree.Member(name: $0.key, value: $0.value) }
            members.append(JSONTree.Member(name: section.rawValue, value: .object(sorted)))
        }
        for entry in foreign where entry.name == nil && UnifiedSection(rawValue: entry.section) == nil {
            if let tree = Self.tree(entry.json) { members.append(JSONTree.Member(name: entry.section, value: tree)) }
        }
        return JSONTree.object(members).json + "\n"
    }

    /// Adds an entry that is only kept for its library. What stands under its name now is what counts, and it goes by
    /// another: the libraries know entries by what they hold.
    private static func add(_ entry: JSONTree, _ name: String, to entries: inout [String: JSONTree]) {
        var free = name
        var number = 1
        while let other = entries[free], other != entry {
            number += 1
            free = "\(name)-\(number)"
        }
        entries[free] = entry
    }

    private mutating func add(_ record: CacheRecord) {
        if case .accessToken(let token) = record, token.expiresOn <= now { return }
        guard let (section, item) = unified(record) else { return addOwn(record) }
        sections[section, default: [:]][Self.key(of: item, in: section)] = .object(item.members)
    }

    /// Python and Go find a token by the realm that they ask, `common` for one, and not by the tenant that this leads to:
    /// for them it stands under every realm that has led there. So does the ID token, without which nobody could tell
    /// which tenant issued the copy.
    ///
    /// - Returns: whether there is such a realm.
    private mutating func addAsAsked(_ record: CacheRecord, _ holdings: Holdings) -> Bool {
        switch record {
        case .accessToken(var token) where token.version == .v2 && !Self.namesNoRealm(token.foreign):
            let realms = askedRealms(of: token.owner, token.clientID, token.realm, token.environment, holdings)
            token.foreign = Self.withoutRealm(token.foreign)
            for realm in realms {
                token.realm = realm
                add(.accessToken(token))
            }
            return !realms.isEmpty
        case .idToken(var token) where token.version == .v2 && !Self.namesNoRealm(token.foreign):
            let realms = askedRealms(of: token.owner, token.clientID, token.realm, token.environment, holdings)
            token.foreign = Self.withoutRealm(token.foreign)
            for realm in realms { if let copy = token.asked(of: realm) { add(.idToken(copy)) } }
            return !realms.isEmpty
        case .account, .accessToken, .idToken, .refreshToken, .appMetadata, .accountMetadata, .carried, .principal:
            return false
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

    /// The record in the schema that the libraries share; nil when that has no place for it.
    private func unified(_ record: CacheRecord) -> (UnifiedSection, UnifiedItem)? {
        if let owner = record.owner, owner.homeAccountID == nil { return nil }
        switch record {
        case .account(let record): return (.account, item(UnifiedItem(record), record.foreign))
        // A v1 token answers another question than a v2 one; MSAL never uses ADAL's.
        case .accessToken(let token) where token.version == .v2:
            return (.accessToken, item(UnifiedItem(token), token.foreign))
        case .idToken(let token) where token.version == .v2:
            return (.idToken, item(UnifiedItem(token), token.foreign))
        // In the schema every refresh token serves every resource.
        case .refreshToken(let token) where token.only == nil:
            return (.refreshToken, item(UnifiedItem(token), token.foreign))
        case .appMetadata(let app): return (.appMetadata, item(UnifiedItem(app), app.foreign))
        case .accessToken, .idToken, .refreshToken, .accountMetadata, .carried, .principal: return nil
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

    private mutating func addOwn(_ record: CacheRecord) {
        guard let stored = try? record.stored(in: .standard), let tree = Self.tree(stored.body) else { return }
        let entry = JSONTree.object([
            JSONTree.Member(name: "kind", value: .number("\(stored.key.kind.rawValue)")),
            JSONTree.Member(name: "record", value: tree.sorted),
        ])
        sections[.own, default: [:]]["\(stored.key.kind.rawValue):\(stored.key.key)"] = entry
    }

    /// The name that most libraries would give the entry; Python's where it wrote the entry, since it rewrites by name.
    private static func key(of item: UnifiedItem, in section: UnifiedSection) -> String {
        func part(_ name: String) -> String { item.text(name) ?? "" }
        let owner = "\(part("home_account_id"))-\(part("environment"))"
        let client = part("client_id")
        switch section {
        case .account: return "\(owner)-\(part("realm"))".lowercased()
        case .idToken: return "\(owner)-idtoken-\(client)-\(part("realm"))-".lowercased()
        case .accessToken: return "\(owner)-accesstoken-\(client)-\(part("realm"))-\(part("target"))".lowercased()
        case .refreshToken:
            if let target = item.text("target") { return "\(owner)-refreshtoken-\(client)--\(target)".lowercased() }
            return "\(owner)-refreshtoken-\(item.text("family_id") ?? client)--".lowercased()
        // Python looks this one up by its name, and does not change the case of the client ID.
        case .appMetadata: return "appmetadata-\(part("environment"))-\(client)"
        case .own: return ""
        }
    }

    private static func tree(_ json: String) -> JSONTree? { tree(Array(json.utf8)) }

    private static func tree(_ json: [UInt8]) -> JSONTree? { try? JSONReader.read(json) }
}

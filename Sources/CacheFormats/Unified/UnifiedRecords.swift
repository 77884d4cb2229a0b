internal import TokenCache
internal import TokenModel

/// Converts a sharing group's records to entries of the schema that MSAL's libraries share.
struct UnifiedRecords {
    let partition: Partition
    let clouds: CloudDirectory
    let now: Int64

    /// An account's entries in a section, by name.
    func entries(of account: AccountKey, in section: UnifiedSection) -> [(name: String, entry: JSONTree)] {
        let credentials = partition[account]
        var entries: [(name: String, entry: JSONTree)] = []
        var copies: [(name: String, entry: JSONTree)] = []
        for record in Self.records(credentials, for: section) {
            if case .accessToken(let token) = record, token.expiresOn <= now { continue }
            guard let place = place(of: record) else {
                if section == .own, let own = Self.own(record) { entries.append(own) }
                continue
            }
            guard place.section == section else { continue }
            let copied = requestedRealmCopies(of: record, credentials)
            copies += copied.compactMap { entry(of: $0, in: section) }
            // No library requests a B2C tenant by its identifier, and MSAL for Node reads a second entry as another token.
            let isB2C = record.header.environment?.hasSuffix(UnifiedTenants.b2cHosts) == true
            if copied.isEmpty || !isB2C, let entry = entry(of: record, in: section) { entries.append(entry) }
        }
        // If one realm led to two tenants, each entry is also written under its own tenant.
        var names = Set(entries.map(\.name))
        entries += copies.filter { names.insert($0.name).inserted }
        return entries.sorted { $0.name < $1.name }
    }

    /// The records that may belong to a section; every record may belong to the agent's own. They are in order, since the
    /// first of two with one name has it.
    private static func records(_ credentials: AccountCredentials, for section: UnifiedSection) -> [CacheRecord] {
        switch section {
        case .account: credentials.accounts.sorted { $0.key < $1.key }.map { .account($0.value) }
        case .idToken: credentials.idTokens.sorted { $0.key < $1.key }.map { .idToken($0.value) }
        case .refreshToken: credentials.refreshTokens.sorted { $0.key < $1.key }.map { .refreshToken($0.value) }
        case .accessToken: credentials.accessTokens.sorted { $0.key < $1.key }.map { .accessToken($0.value) }
        case .own: credentials.records
        case .appMetadata: []
        }
    }

    private func entry(of record: CacheRecord, in section: UnifiedSection) -> (name: String, entry: JSONTree)? {
        unified(record).map { (name: $0.item.key(in: section), entry: $0.item.tree) }
    }

    /// The tokens that are also written under the realms that led to their tenant.
    ///
    /// MSAL for Python and Go find a token by the realm that they request, such as `common`, and not by the tenant that issued it.
    /// The ID token is written under the same realms, since only it names the tenant of the copies.
    private func requestedRealmCopies(of record: CacheRecord, _ credentials: AccountCredentials) -> [CacheRecord] {
        switch record {
        case .accessToken(var token) where token.version == .v2 && !Self.hasBlankRealm(token.unknownFields):
            let realms = requestedRealms(
                of: token.account, token.clientID, token.realm, token.environment, credentials)
            if !realms.isEmpty { token.unknownFields = Self.withoutRealm(token.unknownFields) }
            return realms.map { realm in
                token.realm = realm
                return .accessToken(token)
            }
        case .idToken(var token) where token.version == .v2 && !Self.hasBlankRealm(token.unknownFields):
            let realms = requestedRealms(
                of: token.account, token.clientID, token.realm, token.environment, credentials)
            if !realms.isEmpty { token.unknownFields = Self.withoutRealm(token.unknownFields) }
            return realms.compactMap { token.withRealm($0)?.record }
        default: return []
        }
    }

    /// The realms that led an app to a tenant, except the tenant itself.
    private func requestedRealms(
        of account: AccountKey, _ clientID: ClientID, _ tenant: String, _ environment: String,
        _ credentials: AccountCredentials
    ) -> [String] {
        let map = credentials.metadata[clientID.key]?.authorityMap ?? [:]
        return map.compactMap { requested, issuer in
            guard let requested = RequestedRealm(requested), let issuer = RequestedRealm(issuer),
                requested.realm != tenant,
                clouds.sameCloud(requested.environment, environment)
            else { return nil }
            // A B2C account is in one tenant only, which the authority map need not name, and so is one of a custom domain.
            let isB2C = requested.authority?.kind == .b2c && requested.authority?.admits(account) == true
            return issuer.realm == tenant || isB2C || account.issuer.isAtCustomDomain ? requested.realm : nil
        }.sorted()
    }

    /// Whether the entry's library wrote a blank realm. It would find a copy as well as the entry.
    private static func hasBlankRealm(_ unknownFields: String?) -> Bool {
        unknownFields.flatMap(Self.tree)?[UnifiedField.realm.rawValue].map { $0.string == nil } ?? false
    }

    private static func withoutRealm(_ unknownFields: String?) -> String? {
        guard let unknownFields else { return nil }
        var fields = UnknownFields(unknownFields)
        fields.remove(UnifiedField.realm.rawValue)
        return fields.json
    }

    /// The section of the schema for a record, and the record as its entry; nil if the schema has no place for it.
    private func place(of record: CacheRecord) -> (section: UnifiedSection, makeItem: () -> UnifiedItem)? {
        let header = record.header
        if let account = header.account, account.homeAccountID == nil { return nil }
        switch record {
        case .account(let record): return (.account, { UnifiedItem(record) })
        // MSAL does not use v1 tokens.
        case .accessToken(let token) where token.version == .v2: return (.accessToken, { UnifiedItem(token) })
        case .idToken(let token) where token.version == .v2: return (.idToken, { UnifiedItem(token) })
        // In the schema every refresh token serves every resource.
        case .refreshToken(let token) where token.restriction == nil: return (.refreshToken, { UnifiedItem(token) })
        case .appMetadata(let app): return (.appMetadata, { UnifiedItem(app) })
        default: return nil
        }
    }

    /// The record as an entry, with its section; nil if the schema has no place for it.
    func unified(_ record: CacheRecord) -> (section: UnifiedSection, item: UnifiedItem)? {
        place(of: record).map { place in
            var item = preservingOrigin(place.makeItem(), record.header.unknownFields)
            if item.text(.agentIssuer) == nil { item.put(.agentIssuer, agentIssuer(of: record)) }
            return (place.section, item)
        }
    }

    /// The issuer of a record's account if the schema does not tell it: that of a custom domain, whose path no entry has, and Entra
    /// at a host that is not known as Entra's. An import reads it at no host of Microsoft's.
    private func agentIssuer(of record: CacheRecord) -> String? {
        guard let account = record.header.account, let environment = record.header.environment,
            !CloudDirectory.isMicrosofts(environment)
        else { return nil }
        if account.issuer.isAtCustomDomain { return account.issuer.text }
        guard account.issuer == Issuer(environment), !clouds.trustsEntraType(at: environment),
            partition[account].accounts.values.contains(where: { $0.authorityType == AccountRecord.entraType })
        else { return nil }
        return account.issuer.text
    }

    /// An entry of another library keeps its environment. An entry that the agent made is written under the cloud's network
    /// host, without a port: other libraries know aliases, but MSAL for Python only by a request. The port is in a field of the
    /// agent's own, since a token is sent to no other port.
    private func preservingOrigin(_ item: UnifiedItem, _ unknownFields: String?) -> UnifiedItem {
        var item = item
        if let unknownFields {
            item.merge(unknownFields: unknownFields)
        } else if let environment = item.text(.environment) {
            let network = clouds.cloud(of: environment).preferredNetwork
            let hasPort = URLParts.host(ofEnvironment: network) != network
            if hasPort { item.put(.agentEnvironment, network) } else { item.replace(.environment, with: network) }
        }
        if let environment = item.text(.agentEnvironment) {
            item.replace(.environment, with: URLParts.host(ofEnvironment: environment))
        }
        return item
    }

    /// The entry of the agent's own section for a record that the schema has no place for.
    private static func own(_ record: CacheRecord) -> (name: String, entry: JSONTree)? {
        let content = record.content
        guard let body = try? content.encoded(), let tree = try? JSONReader.read(body) else { return nil }
        let entry = JSONTree.object([
            JSONTree.Member(name: UnifiedField.kind.rawValue, value: .number("\(record.kindNumber)")),
            JSONTree.Member(name: UnifiedField.record.rawValue, value: tree.sorted),
        ])
        return (name: "\(record.kindNumber):\(content.key)", entry: entry)
    }

    static func tree(_ json: String) -> JSONTree? { try? JSONReader.read(Array(json.utf8)) }
}

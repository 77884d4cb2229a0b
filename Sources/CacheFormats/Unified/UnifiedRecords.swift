internal import TokenCache
internal import TokenModel

/// The entries of a section that are written together: those of one account, or those that belong to none.
///
/// An entry is converted to JSON when it is written. All of them can be many times as long as the records, since a token has a copy for
/// each realm that led to its tenant.
struct ExportedEntries {
    struct Entry {
        let name: String
        fileprivate let source: Source
    }

    fileprivate enum Source {
        /// A record, under its own realm or under another one.
        case record(Int, realm: String?)
        case opaque(Int)
    }

    fileprivate var records: [CacheRecord] = []
    fileprivate var opaque: [OpaqueRecord] = []
    /// The entries in the order in which they are written.
    fileprivate(set) var list: [Entry] = []
}

/// Converts a sharing group's records to entries of the schema that MSAL's libraries share.
struct UnifiedRecords {
    let partition: Partition
    let clouds: CloudDirectory
    let now: Int64

    /// An account's entries in a section, by name, with the opaque records that name the account.
    func entries(
        of account: AccountKey, with opaque: [OpaqueRecord], in section: UnifiedSection
    ) -> ExportedEntries {
        let credentials = partition[account]
        var entries = ExportedEntries(records: Self.records(credentials, for: section), opaque: opaque)
        var copies: [ExportedEntries.Entry] = []
        for (index, record) in entries.records.enumerated() {
            if case .accessToken(let token) = record, !token.isExportable(at: now) { continue }
            guard let place = place(of: record) else {
                guard section == .own else { continue }
                entries.list.append(
                    ExportedEntries.Entry(name: Self.ownName(of: record), source: .record(index, realm: nil)))
                continue
            }
            guard place.section == section else { continue }
            let copied = requestedRealms(of: record, credentials).compactMap { realm in
                copy(of: record, under: realm).flatMap { name(of: $0, in: section) }
                    .map { ExportedEntries.Entry(name: $0, source: .record(index, realm: realm)) }
            }
            copies += copied
            // No library requests a B2C tenant by its identifier, and MSAL for Node reads a second entry as another token.
            let isB2C = record.header.environment.map(UnifiedTenants.isB2Cs) == true
            if copied.isEmpty || !isB2C, let name = name(of: record, in: section) {
                entries.list.append(ExportedEntries.Entry(name: name, source: .record(index, realm: nil)))
            }
        }
        // If one realm led to two tenants, each entry is also written under its own tenant.
        var names = Set(entries.list.map { ExactText($0.name) })
        entries.list += copies.filter { names.insert(ExactText($0.name)).inserted }
        entries.list.sort { $0.name < $1.name }
        let kept = Self.list(opaque, in: section)
        if !kept.isEmpty {
            entries.list += kept
            entries.list.sort { $0.name < $1.name }
        }
        return entries
    }

    /// The entries of a section that belong to no account: those of apps, and then the opaque records.
    func entries(
        of apps: [AppMetadataRecord], with opaque: [OpaqueRecord], in section: UnifiedSection
    ) -> ExportedEntries {
        var entries = ExportedEntries(opaque: opaque)
        if section == .appMetadata {
            entries.records = apps.map(CacheRecord.appMetadata)
            entries.list = entries.records.enumerated().compactMap { index, record in
                name(of: record, in: section).map {
                    ExportedEntries.Entry(name: $0, source: .record(index, realm: nil))
                }
            }
        }
        entries.list += Self.list(opaque, in: section)
        return entries
    }

    private static func list(_ opaque: [OpaqueRecord], in section: UnifiedSection) -> [ExportedEntries.Entry] {
        opaque.enumerated().compactMap { index, record in
            guard record.section == section.rawValue, let name = record.name else { return nil }
            return ExportedEntries.Entry(name: name, source: .opaque(index))
        }
    }

    /// The JSON of an entry; nil if there is none.
    func tree(of entry: ExportedEntries.Entry, among entries: ExportedEntries) -> JSONTree? {
        switch entry.source {
        case .opaque(let index): return Self.tree(entries.opaque[index].json)
        case .record(let index, let realm):
            let record = entries.records[index]
            guard place(of: record) != nil else { return Self.own(record) }
            let written: CacheRecord? = if let realm { copy(of: record, under: realm) } else { record }
            return written.flatMap(unified)?.item.tree
        }
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

    private func name(of record: CacheRecord, in section: UnifiedSection) -> String? {
        unified(record)?.item.key(in: section)
    }

    /// The realms under which a token is written besides its own.
    ///
    /// MSAL for Python and Go find a token by the realm that they request, such as `common`, and not by the tenant that issued it.
    /// The ID token is written under the same realms, since only it names the tenant of the copies.
    private func requestedRealms(of record: CacheRecord, _ credentials: AccountCredentials) -> [String] {
        switch record {
        case .accessToken(let token) where token.version == .v2 && !Self.hasBlankRealm(token.unknownFields):
            requestedRealms(of: token.account, token.clientID, token.realm, token.environment, credentials)
        case .idToken(let token) where token.version == .v2 && !Self.hasBlankRealm(token.unknownFields):
            requestedRealms(of: token.account, token.clientID, token.realm, token.environment, credentials)
        default: []
        }
    }

    /// A token under another realm than its own; nil for other records.
    private func copy(of record: CacheRecord, under realm: String) -> CacheRecord? {
        switch record {
        case .accessToken(var token):
            token.unknownFields = Self.withoutRealm(token.unknownFields)
            token.realm = realm
            return .accessToken(token)
        case .idToken(var token):
            token.unknownFields = Self.withoutRealm(token.unknownFields)
            return token.withRealm(realm)?.record
        default: return nil
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
            if let subject = subject(of: record) { item.replace(.homeAccountID, with: subject) }
            if item.text(.agentIssuer) == nil { item.put(.agentIssuer, agentIssuer(of: record)) }
            return (place.section, item)
        }
    }

    /// The identifier of the account of a record that the agent made, as the identity provider spells it: at AD FS, it is the `sub` claim of
    /// the ID tokens. MSAL for Python and Go compare it with that of the tokens that they get themselves, capitals included.
    private func subject(of record: CacheRecord) -> String? {
        guard record.header.unknownFields == nil, let account = record.header.account, account.issuer != .microsoft,
            !account.hasUnambiguousKeys
        else { return nil }
        return partition[account].idTokens.values.lazy.compactMap { IDTokenClaims(idToken: $0.idToken)?.subject }
            .first { HomeAccountID($0) == account.homeAccountID }
    }

    /// The issuer of a record's account if the schema has no field for it: that of a custom domain, whose path no entry has, and Entra
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
    private static func own(_ record: CacheRecord) -> JSONTree? {
        guard let body = try? record.content.encoded(), let tree = try? JSONReader.read(body) else { return nil }
        return .object([
            JSONTree.Member(name: UnifiedField.kind.rawValue, value: .number("\(record.kindNumber)")),
            JSONTree.Member(name: UnifiedField.record.rawValue, value: tree.sorted),
        ])
    }

    private static func ownName(of record: CacheRecord) -> String { "\(record.kindNumber):\(record.content.key)" }

    static func tree(_ json: String) -> JSONTree? { try? JSONReader.read(Array(json.utf8)) }
}

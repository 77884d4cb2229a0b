internal import TokenModel
internal import TokenStore

/// The JSON that MSAL for Python, Go, Java, .NET and Node share. Entries are known by what they hold; the names they
/// stand under differ between libraries, and are not read.
extension ForeignCache {
    /// Reads the file twice: for the tenants, which the ID tokens tell, and then for the entries.
    mutating func readUnified(_ file: ForeignFile) throws(TokenError) {
        let survey = try UnifiedSurvey(file, clouds)
        var reader = JSONReader(ByteFeed(file, isLast: true))
        try UnifiedEntries.read(&reader) { step, reader throws(TokenError) in
            guard case .entry(let entry) = step else { return }
            guard !survey.superseded.contains(entry.number) else { return try reader.skip() }
            let value = try reader.value(limit: ValueLimits.unknownFields)
            guard let section = entry.section else { return carrySection(entry.name, value) }
            guard let value else { return skip(Self.kind(section), Self.tooLong) }
            read(JSONTree.Member(name: entry.name, value: value), in: section, survey.tenants)
        }
        try reader.finish()
    }

    private mutating func carrySection(_ name: String, _ value: JSONTree?) {
        guard let value else { return skip(Self.title("section", name, nil), Self.tooLong) }
        carry(CarriedRecord(section: name, name: nil, json: value.json), "section")
    }

    private mutating func read(_ entry: JSONTree.Member, in section: UnifiedSection, _ tenants: UnifiedTenants) {
        let item = UnifiedItem(entry.value)
        if section == .own { return readOwn(entry.value) }
        guard entry.value.isObject else {
            return carry(entry, in: section, "it is not an object; kept for export only")
        }
        if let reason = Self.otherUse(of: item, in: section) {
            return carry(entry, in: section, "\(reason); kept for export only")
        }
        switch section {
        case .account: readAccount(item, entry, tenants)
        case .appMetadata: readAppMetadata(item, entry)
        case .idToken, .refreshToken, .accessToken: readCredential(item, entry, section, tenants)
        case .own: break
        }
    }

    private mutating func readAccount(_ item: UnifiedItem, _ entry: JSONTree.Member, _ tenants: UnifiedTenants) {
        guard let home = item.text("home_account_id").flatMap({ shared.homeAccountID($0) }),
            let environment = item.text("environment")
        else { return carry(entry, in: .account, "it does not say whose it is; kept for export only") }
        let username = item.text("username") ?? ""
        let realm = shared(tenants.tenant(of: item) ?? Self.realm(item))
        var record = AccountRecord(
            homeAccountID: home.text, environment: shared(environment.lowercased()),
            realm: realm, localAccountID: item.text("local_account_id")?.lowercased(), username: username,
            authorityType: Self.authorityType(item.text("authority_type")), name: item.text("name"),
            givenName: item.text("given_name"), familyName: item.text("family_name"),
            alternativeAccountID: item.text("alternative_account_id"), clientInfo: item.text("client_info"),
            source: item.text("source") == "adal" ? "adal" : "msal")
        record.foreign = shared(item.foreign(beyond: UnifiedItem(record)))
        add(
            .account(record), Self.title("account", username.isEmpty ? home.text : username, nil, realm),
            askedRealm: askedRealm(item, realm), isUnified: true)
    }

    private mutating func readAppMetadata(_ item: UnifiedItem, _ entry: JSONTree.Member) {
        guard let clientID = item.text("client_id"), let environment = item.text("environment") else {
            return carry(entry, in: .appMetadata, "it does not say which app it is about; kept for export only")
        }
        var record = AppMetadataRecord(
            clientID: clientID, environment: environment.lowercased(), familyID: item.text("family_id") ?? "")
        record.foreign = item.foreign(beyond: UnifiedItem(record))
        add(.appMetadata(record), Self.title("app metadata", nil, clientID), isUnified: true)
    }

    private mutating func readCredential(
        _ item: UnifiedItem, _ entry: JSONTree.Member, _ section: UnifiedSection, _ tenants: UnifiedTenants
    ) {
        func title() -> String {
            Self.title(Self.kind(section), tenants.name(of: item), item.text("client_id"), item.target)
        }
        guard let secret = item.text("secret") else { return skip(title(), "it holds no token") }
        guard secret != ADALEntry.tombstone else { return skip(title(), "a tombstone: its token was rejected") }
        guard let home = item.text("home_account_id").flatMap({ shared.homeAccountID($0) }) else {
            return skip(title(), "an app's own token, of no account")
        }
        guard let environment = item.text("environment").map({ shared($0.lowercased()) }),
            let clientID = item.text("client_id").flatMap({ shared.clientID($0) })
        else { return carry(entry, in: section, "it does not say whose it is; kept for export only") }
        let owner = OwnerID.home(home)
        let realm = shared(tenants.tenant(of: item) ?? Self.realm(item))
        let askedRealm = askedRealm(item, realm)
        switch section {
        case .refreshToken:
            var token = RefreshTokenRecord(
                owner: owner, environment: environment, clientID: clientID,
                familyID: item.text("family_id").flatMap(FamilyID.init), secret: Secret(secret),
                obtainedOn: item["last_modification_time"]?.integer)
            token.foreign = shared(item.foreign(beyond: UnifiedItem(token)))
            add(.refreshToken(token), title())
        case .idToken:
            guard
                var token = IDTokenRecord(
                    owner: owner, environment: environment, clientID: clientID, realm: realm, version: .v2,
                    idToken: secret)
            else { return carry(entry, in: section, "its claims cannot be read; kept for export only") }
            token.foreign = shared(item.foreign(beyond: UnifiedItem(token), askedRealm: askedRealm))
            add(.idToken(token), title(), askedRealm: askedRealm)
        default:
            guard let expiresOn = item["expires_on"]?.integer else {
                return skip(title(), "it does not say when it expires")
            }
            var token = AccessTokenRecord(
                owner: owner, environment: environment, clientID: clientID, realm: realm, version: .v2,
                scopes: shared.scopes(target: item.target ?? ""), tokenType: "Bearer", secret: Secret(secret),
                cachedAt: item["cached_at"]?.integer ?? 0, expiresOn: expiresOn,
                extendedExpiresOn: (item["extended_expires_on"] ?? item["ext_expires_on"])?.integer.flatMap {
                    $0 > 0 ? $0 : nil
                }, refreshOn: item["refresh_on"]?.integer.flatMap { $0 > 0 ? $0 : nil })
            token.foreign = shared(item.foreign(beyond: UnifiedItem(token), askedRealm: askedRealm))
            add(.accessToken(token), title(), askedRealm: askedRealm)
        }
    }

    /// A record that the schema has no place for, from an export of the agent's own.
    private mutating func readOwn(_ entry: JSONTree) {
        guard let kind = entry["kind"]?.integer.flatMap({ Int32(exactly: $0) }).flatMap(RecordKind.init),
            let body = entry["record"],
            [.account, .accessToken, .refreshToken, .idToken, .accountMetadata].contains(kind),
            let record = CacheRecord(
                StoredRecord(key: RecordKey(group: "", kind: kind, key: ""), body: Array(body.json.utf8)))
        else { return skip("record of sso-agent", "it cannot be read") }
        var person: Person?
        if case .account(let account) = record, account.homeAccountID == nil, let objectID = account.localAccountID {
            person = Person(tenantID: account.realm, objectID: objectID)
        }
        add(
            record, Self.title("\(kind)", body["username"]?.string, body["client_id"]?.string, body["target"]?.string),
            person: person)
    }

    private mutating func carry(_ entry: JSONTree.Member, in section: UnifiedSection, _ reason: String) {
        let item = UnifiedItem(entry.value)
        let record = CarriedRecord(
            section: section.rawValue, name: entry.name, json: entry.value.json,
            homeAccountID: item.text("home_account_id").flatMap(HomeAccountID.init)?.text,
            clientID: item.text("client_id")?.trimmedNonEmpty)
        let skippedBefore = skipped.count
        carry(record, Self.kind(section))
        guard skipped.count == skippedBefore else { return }
        skip(Self.title(Self.kind(section), item.text("username"), item.text("client_id"), item.target), reason)
    }

    private mutating func carry(_ record: CarriedRecord, _ kind: String) {
        add(.carried(record), Self.title(kind, record.section, record.clientID))
    }
}

/// How single members are read, tolerantly: each library writes some of them in a way of its own.
extension ForeignCache {
    /// Why an entry answers no request that an app makes here, if so: it is bound to a key, a claims request, an assertion …
    private static func otherUse(of item: UnifiedItem, in section: UnifiedSection) -> String? {
        let type = item.text("credential_type")?.lowercased()
        let isCredential = section != .account && section != .appMetadata
        if isCredential, let type, type != section.rawValue.lowercased() { return "a credential of another kind" }
        if item.text("user_assertion_hash") != nil || item.text("userAssertionHash") != nil {
            return "it was issued on behalf of a user to a server"
        }
        guard section == .accessToken else { return nil }
        if let type = item.text("token_type"), type.lowercased() != "bearer" { return "not a bearer token" }
        let parts = ["ext_cache_key", "requestedClaims", "requestedClaimsHash", "requested_claims"]
        if parts.contains(where: { item.text($0) != nil }) || item["ext"]?.isObject == true {
            return "it answers only the request that it was issued for"
        }
        return nil
    }

    /// AD FS has no tenants: .NET leaves the realm out, the others write this.
    private static func realm(_ item: UnifiedItem) -> String { item.text("realm")?.lowercased() ?? "adfs" }

    /// The realm that the entry's library asked, where that is another than the tenant. Node's early versions name none for
    /// B2C, which is none to ask.
    private mutating func askedRealm(_ item: UnifiedItem, _ tenant: String) -> String? {
        guard let written = item.text("realm")?.lowercased(), written != tenant else { return nil }
        return shared(written)
    }

    /// `AAD` and `MSA` are what early versions called the one kind that Entra's accounts now are.
    private static func authorityType(_ text: String?) -> String {
        switch text?.uppercased() {
        case nil, "MSSTS", "AAD", "MSA": AccountRecord.entraType
        case "ADFS": "ADFS"
        default: text ?? AccountRecord.entraType
        }
    }

    static func kind(_ section: UnifiedSection) -> String {
        switch section {
        case .account: "account"
        case .appMetadata: "app metadata"
        case .idToken: "ID token"
        case .refreshToken: "refresh token"
        case .accessToken: "access token"
        case .own: "record"
        }
    }
}

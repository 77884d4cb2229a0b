internal import TokenModel
internal import TokenStore

/// The JSON that MSAL for Python, Go, Java, .NET and Node share. Entries are known by what they hold; the names they
/// stand under differ between libraries, and are not read.
extension ForeignCache {
    mutating func readUnified(_ root: JSONTree) throws(TokenError) {
        let root = Self.sections(ofDictionaryFormat: root) ?? root
        guard root.isObject else {
            throw TokenError(
                .cacheBadFormat,
                "not a token cache of MSAL: it is no JSON object; for the JSON list of ADAL use the format adal-json")
        }
        let tenants = UnifiedTenants(root[UnifiedSection.idToken.rawValue])
        // In this order, so that a report reads from accounts to tokens.
        for section in UnifiedSection.allCases {
            for entry in Self.entries(root[section.rawValue], section) { read(entry, in: section, tenants) }
        }
        for member in UnifiedItem(root).members
        where UnifiedSection(rawValue: member.name) == nil || !member.value.isObject {
            carry(CarriedRecord(section: member.name, name: nil, json: member.value.json), "section")
        }
    }

    /// Accounts by realm and cloud, so that of several that are one the same comes first, whatever its library named them.
    private static func entries(_ tree: JSONTree?, _ section: UnifiedSection) -> [JSONTree.Member] {
        // Of entries of one name the last counts: two could take each other's place for ever.
        let entries = tree.map { UnifiedItem($0).members } ?? []
        guard section == .account else { return entries }
        let places = entries.map { entry in
            let item = UnifiedItem(entry.value)
            return (place: (item.text("realm") ?? "", item.text("environment") ?? "", entry.name), entry: entry)
        }
        return places.sorted { $0.place < $1.place }.map(\.entry)
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
        guard let home = item.text("home_account_id").flatMap(HomeAccountID.init),
            let environment = item.text("environment")
        else { return carry(entry, in: .account, "it does not say whose it is; kept for export only") }
        let username = item.text("username") ?? ""
        let realm = tenants.tenant(of: item) ?? Self.realm(item)
        var record = AccountRecord(
            homeAccountID: home.text, environment: environment.lowercased(),
            realm: realm, localAccountID: item.text("local_account_id")?.lowercased(), username: username,
            authorityType: Self.authorityType(item.text("authority_type")), name: item.text("name"),
            givenName: item.text("given_name"), familyName: item.text("family_name"),
            alternativeAccountID: item.text("alternative_account_id"), clientInfo: item.text("client_info"),
            source: item.text("source") == "adal" ? "adal" : "msal")
        record.foreign = item.foreign(beyond: UnifiedItem(record))
        add(
            .account(record), Self.title("account", username.isEmpty ? home.text : username, nil, realm),
            askedRealm: Self.askedRealm(item, realm), original: Self.carried(entry, .account))
    }

    private mutating func readAppMetadata(_ item: UnifiedItem, _ entry: JSONTree.Member) {
        guard let clientID = item.text("client_id"), let environment = item.text("environment") else {
            return carry(entry, in: .appMetadata, "it does not say which app it is about; kept for export only")
        }
        var record = AppMetadataRecord(
            clientID: clientID, environment: environment.lowercased(), familyID: item.text("family_id") ?? "")
        record.foreign = item.foreign(beyond: UnifiedItem(record))
        add(.appMetadata(record), Self.title("app metadata", nil, clientID))
    }

    private mutating func readCredential(
        _ item: UnifiedItem, _ entry: JSONTree.Member, _ section: UnifiedSection, _ tenants: UnifiedTenants
    ) {
        let title = Self.title(
            Self.kind(section), tenants.name(of: item), item.text("client_id"), item.text("target"))
        guard let secret = item.text("secret") else { return skip(title, "it holds no token") }
        guard secret != ADALEntry.tombstone else { return skip(title, "a tombstone: its token was rejected") }
        guard let home = item.text("home_account_id").flatMap(HomeAccountID.init) else {
            return skip(title, "an app's own token, of no account")
        }
        guard let environment = item.text("environment")?.lowercased(),
            let clientID = item.text("client_id").flatMap(ClientID.init)
        else { return carry(entry, in: section, "it does not say whose it is; kept for export only") }
        let owner = OwnerID.home(home)
        let realm = tenants.tenant(of: item) ?? Self.realm(item)
        let askedRealm = Self.askedRealm(item, realm)
        switch section {
        case .refreshToken:
            var token = RefreshTokenRecord(
                owner: owner, environment: environment, clientID: clientID,
                familyID: item.text("family_id").flatMap(FamilyID.init), secret: Secret(secret),
                obtainedOn: item["last_modification_time"]?.integer)
            token.foreign = item.foreign(beyond: UnifiedItem(token))
            add(.refreshToken(token), title)
        case .idToken:
            guard
                var token = IDTokenRecord(
                    owner: owner, environment: environment, clientID: clientID, realm: realm, version: .v2,
                    idToken: secret)
            else { return carry(entry, in: section, "its claims cannot be read; kept for export only") }
            token.foreign = item.foreign(beyond: UnifiedItem(token), askedRealm: askedRealm)
            add(.idToken(token), title, askedRealm: askedRealm)
        default:
            guard let expiresOn = item["expires_on"]?.integer else {
                return skip(title, "it does not say when it expires")
            }
            var token = AccessTokenRecord(
                owner: owner, environment: environment, clientID: clientID, realm: realm, version: .v2,
                scopes: Self.scopes(item["target"]), tokenType: "Bearer", secret: Secret(secret),
                cachedAt: item["cached_at"]?.integer ?? 0, expiresOn: expiresOn,
                extendedExpiresOn: (item["extended_expires_on"] ?? item["ext_expires_on"])?.integer.flatMap {
                    $0 > 0 ? $0 : nil
                }, refreshOn: item["refresh_on"]?.integer.flatMap { $0 > 0 ? $0 : nil })
            token.foreign = item.foreign(beyond: UnifiedItem(token), askedRealm: askedRealm)
            add(.accessToken(token), title, askedRealm: askedRealm)
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
        add(record, Self.title("\(kind)", body["username"]?.string, body["client_id"]?.string, body["target"]?.string))
    }

    private mutating func carry(_ entry: JSONTree.Member, in section: UnifiedSection, _ reason: String) {
        let item = UnifiedItem(entry.value)
        carry(Self.carried(entry, section), Self.kind(section))
        skip(Self.title(Self.kind(section), item.text("username"), item.text("client_id"), item.text("target")), reason)
    }

    private static func carried(_ entry: JSONTree.Member, _ section: UnifiedSection) -> CarriedRecord {
        let item = UnifiedItem(entry.value)
        return CarriedRecord(
            section: section.rawValue, name: entry.name, json: entry.value.json,
            homeAccountID: item.text("home_account_id").flatMap(HomeAccountID.init)?.text,
            clientID: item.text("client_id"))
    }

    private mutating func carry(_ record: CarriedRecord, _ kind: String) {
        add(.carried(record), "\(kind) \(record.section)")
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
    private static func askedRealm(_ item: UnifiedItem, _ tenant: String) -> String? {
        guard let written = item.text("realm")?.lowercased(), written != tenant else { return nil }
        return written
    }

    /// `AAD` and `MSA` are what early versions called the one kind that Entra's accounts now are.
    private static func authorityType(_ text: String?) -> String {
        switch text?.uppercased() {
        case nil, "MSSTS", "AAD", "MSA": AccountRecord.entraType
        case "ADFS": "ADFS"
        default: text ?? AccountRecord.entraType
        }
    }

    /// A text; in early Python a list.
    private static func scopes(_ target: JSONTree?) -> ScopeSet {
        if let text = target?.string { return ScopeSet(target: text) }
        return ScopeSet(target?.values.compactMap(\.string) ?? [])
    }

    private static func kind(_ section: UnifiedSection) -> String {
        switch section {
        case .account: "account"
        case .appMetadata: "app metadata"
        case .idToken: "ID token"
        case .refreshToken: "refresh token"
        case .accessToken: "access token"
        case .own: "record"
        }
    }

    /// MSAL .NET 2.x wrote a list of named lists of texts that hold the entries.
    private static func sections(ofDictionaryFormat root: JSONTree) -> JSONTree? {
        let names = [
            "access_tokens": "AccessToken", "refresh_tokens": "RefreshToken", "id_tokens": "IdToken",
            "accounts": "Account", "app_metadata": "AppMetadata",
        ]
        guard !root.values.isEmpty, root.values.allSatisfy({ $0["Key"]?.string != nil }) else { return nil }
        return .object(
            root.values.compactMap { list in
                guard let name = list["Key"]?.string, let values = list["Value"]?.values else { return nil }
                let entries = values.enumerated().compactMap { index, value -> JSONTree.Member? in
                    guard let json = value.string, let item = try? JSONReader.read(Array(json.utf8)) else { return nil }
                    return JSONTree.Member(name: "\(index)", value: item)
                }
                return JSONTree.Member(name: names[name] ?? name, value: .object(entries))
            })
    }
}

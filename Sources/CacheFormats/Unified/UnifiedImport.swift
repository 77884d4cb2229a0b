internal import TokenCache
internal import TokenModel

/// Reads the JSON that MSAL for Python, Go, Java, .NET and Node share. An entry is identified by its fields; its name differs
/// between libraries, and tells only which of two equal entries of MSAL for Go is the older one.
extension ForeignCache {
    /// Reads the file twice: for the tenants, which the ID tokens name, and then for the entries.
    mutating func readUnified(_ file: ForeignFile) throws(TokenError) {
        let survey = try UnifiedSurvey(file, clouds)
        var reader = file.jsonReader(isLast: true)
        try UnifiedEntries.read(&reader) { step, reader throws(TokenError) in
            guard case .entry(let entry) = step else { return }
            guard !survey.superseded.contains(entry.number) else { return try reader.skip() }
            let value = try reader.value(limit: ValueLimits.unknownFields)
            guard let section = entry.section else { return keepSection(entry.name, value) }
            guard let value else { return skip(section.entryName, Self.tooLong) }
            read(JSONTree.Member(name: entry.name, value: value), in: section, survey)
        }
        try reader.finish()
    }

    private mutating func keepSection(_ name: String, _ value: JSONTree?) {
        guard let value else { return skip(Self.title("section", name, nil), Self.tooLong) }
        keep(OpaqueRecord(section: name, name: nil, json: value.json), "section")
    }

    private mutating func read(_ entry: JSONTree.Member, in section: UnifiedSection, _ survey: UnifiedSurvey) {
        let item = UnifiedItem(entry.value)
        if section == .own { return readOwn(entry.value, survey.issuers) }
        guard entry.value.isObject else {
            return keep(entry, in: section, "it is not an object; kept for export only")
        }
        if let reason = Self.otherUse(of: item, in: section) {
            return keep(entry, in: section, "\(reason); kept for export only")
        }
        switch section {
        case .account: readAccount(item, entry, survey)
        case .appMetadata: readAppMetadata(item, entry)
        case .idToken, .refreshToken, .accessToken: readCredential(item, entry, section, survey)
        case .own: break
        }
    }

    private mutating func readAccount(_ item: UnifiedItem, _ entry: JSONTree.Member, _ survey: UnifiedSurvey) {
        guard let home = item.text(.homeAccountID).flatMap({ shared.homeAccountID($0) }),
            let environment = item.environment
        else { return keep(entry, in: .account, "it does not say whose it is; kept for export only") }
        guard case .known(let issuer) = survey.issuers.provider(of: item, at: environment) else {
            return keep(entry, in: .account, Self.unknownProvider(environment))
        }
        let realm = realm(of: item, from: issuer, at: environment, survey.tenants)
        var record = AccountRecord(
            item, home, of: item.agentIssuer(at: environment), environment: shared(environment), realm: realm,
            authorityType: survey.issuers.type(of: item, at: environment))
        record.unknownFields = shared(item.unknownFields(beyond: UnifiedItem(record)))
        let user = record.username.isEmpty ? home.text : record.username
        add(
            .account(record), Self.title("account", user, nil, realm),
            requestedRealm: requestedRealm(item, realm), isUnified: true, hasOldName: Self.isOld(entry.name))
    }

    private mutating func readAppMetadata(_ item: UnifiedItem, _ entry: JSONTree.Member) {
        guard let record = AppMetadataRecord(item) else {
            return keep(entry, in: .appMetadata, "it does not say which app it is about; kept for export only")
        }
        add(
            .appMetadata(record), Self.title("app metadata", nil, record.clientID), isUnified: true,
            hasOldName: Self.isOld(entry.name))
    }

    private mutating func readCredential(
        _ item: UnifiedItem, _ entry: JSONTree.Member, _ section: UnifiedSection, _ survey: UnifiedSurvey
    ) {
        let title = Self.title(section.entryName, survey.tenants.name(of: item), item.text(.clientID), item.target)
        guard let secret = item.text(.secret) else { return skip(title, "it holds no token") }
        guard secret != ADALEntry.tombstone else { return skip(title, "a tombstone: its token was rejected") }
        guard let home = item.text(.homeAccountID).flatMap({ shared.homeAccountID($0) }) else {
            return skip(title, "an app's own token, of no account")
        }
        guard let environment = item.environment.map({ shared($0) }),
            let clientID = item.text(.clientID).flatMap({ shared.clientID($0) })
        else { return keep(entry, in: section, "it does not say whose it is; kept for export only") }
        guard section == .refreshToken || !clientID.isOfFamily else {
            return keep(entry, in: section, "a family of apps has refresh tokens only; kept for export only")
        }
        let issuer: Issuer
        switch survey.issuers.provider(ofCredential: item, in: section, of: home.text, at: environment) {
        case .known(let known): issuer = known
        case .unknown: return keep(entry, in: section, Self.unknownProvider(environment))
        case .several: return skip(title, Self.uncertainIssuer)
        }
        let credential = UnifiedCredential(
            account: AccountKey(issuer: issuer, identity: .home(home)), environment: environment, clientID: clientID,
            secret: secret)
        addToken(item, entry, section, survey.tenants, credential, title)
    }

    /// Adds the record of a credential's kind; the credential has what all kinds have.
    private mutating func addToken(
        _ item: UnifiedItem, _ entry: JSONTree.Member, _ section: UnifiedSection, _ tenants: UnifiedTenants,
        _ credential: UnifiedCredential, _ title: String
    ) {
        let realm = realm(of: item, from: credential.account.issuer, at: credential.environment, tenants)
        let requestedRealm = requestedRealm(item, realm)
        let isOld = Self.isOld(entry.name)
        switch section {
        case .refreshToken:
            var token = RefreshTokenRecord(item, credential, clouds)
            token.unknownFields = shared(item.unknownFields(beyond: UnifiedItem(token)))
            add(.refreshToken(token), title, hasOldName: isOld)
        case .idToken:
            guard tenants.agrees(with: item) else {
                return skip(title, "another ID token of the app names the tenant that the realm leads to")
            }
            guard var token = IDTokenRecord(credential, realm: realm) else {
                return keep(entry, in: section, "its claims cannot be read; kept for export only")
            }
            token.unknownFields = shared(
                item.unknownFields(beyond: UnifiedItem(token), requestedRealm: requestedRealm))
            add(.idToken(token), title, requestedRealm: requestedRealm, hasOldName: isOld)
        default:
            let scopes = shared.scopes(target: item.target ?? "")
            guard var token = AccessTokenRecord(item, credential, realm: realm, scopes: scopes) else {
                return skip(title, "it does not say when it expires")
            }
            token.unknownFields = shared(
                item.unknownFields(beyond: UnifiedItem(token), requestedRealm: requestedRealm))
            add(.accessToken(token), title, requestedRealm: requestedRealm, hasOldName: isOld)
        }
    }

    /// Whether an entry may have been left behind by MSAL for Go; see `Entry.hasOldName`.
    private static func isOld(_ name: String) -> Bool { name.utf8.contains { 0x41...0x5A ~= $0 } }

    /// Reads a record of the agent's own section, which holds what the schema has no place for.
    private mutating func readOwn(_ entry: JSONTree, _ issuers: UnifiedIssuers) {
        let item = UnifiedItem(entry)
        guard let number = item[.kind]?.integer.flatMap({ Int32(exactly: $0) }), let body = item[.record],
            var record = CacheRecord(exportedAs: number, Array(body.json.utf8))
        else { return skip("record of sso-agent", "it cannot be read") }
        // Earlier versions did not write the issuer.
        if var account = record.header.account, account.issuer == .unresolved {
            let provider =
                record.header.environment.map {
                    issuers.provider(
                        of: account.homeAccountID?.text ?? "", at: $0, realm: UnifiedItem(body).text(.realm))
                } ?? .known(.microsoft)
            guard case .known(let issuer) = provider else { return skip("record of sso-agent", Self.uncertainIssuer) }
            account.issuer = issuer
            record = record.assigned(to: account)
        }
        let environment = record.header.environment
        record = record.filteringUnknownFields { isUnknown($0, at: environment) }
        var user: DirectoryUser?
        if case .account(let account) = record, account.homeAccountID == nil, let objectID = account.localAccountID {
            user = DirectoryUser(tenantID: account.realm, objectID: objectID)
        }
        let fields = UnifiedItem(body)
        add(
            record,
            Self.title(
                "\(record.kind)", fields.text(.username), fields.text(.clientID), fields[.target]?.string),
            user: user)
    }

    /// Whether a field of a record of the agent's own section may be an unknown one. An export writes unknown fields in place of the
    /// record's own: of the fields of the schema, only the cloud's name may be among them, which may be another of the same cloud.
    private func isUnknown(_ field: JSONTree.Member, at environment: String?) -> Bool {
        guard let known = UnifiedField(rawValue: field.name) else { return true }
        guard known == .environment, let name = field.value.string, let environment else { return false }
        return clouds.sameCloud(name, environment)
    }

    /// Keeps an entry that the agent does not use, for its library.
    private mutating func keep(_ entry: JSONTree.Member, in section: UnifiedSection, _ reason: String) {
        let item = UnifiedItem(entry.value)
        let record = OpaqueRecord(
            section: section.rawValue, name: entry.name, json: entry.value.json,
            homeAccountID: item.text(.homeAccountID).flatMap(HomeAccountID.init)?.text,
            clientID: item.text(.clientID)?.trimmedNonEmpty)
        let skippedBefore = skipped.count
        keep(record, section.entryName)
        guard skipped.count == skippedBefore else { return }
        skip(Self.title(section.entryName, item.text(.username), item.text(.clientID), item.target), reason)
    }

    private static let uncertainIssuer = "it is not certain which identity provider issued it"

    private static func unknownProvider(_ environment: String) -> String {
        "\(unknownHost(environment)), and the file does not tell which provider is there; kept for export only"
    }

    /// The reason for skipping what names an Entra authority at a host of somebody else.
    static func unknownHost(_ environment: String) -> String {
        "\(UntrustedText.clean(environment, limit: 100)) is not known as a host of Entra"
    }

    private mutating func keep(_ record: OpaqueRecord, _ kind: String) {
        add(.opaque(record), Self.title(kind, record.section, record.clientID))
    }
}

/// Fields that libraries write in different ways.
extension ForeignCache {
    /// The reason why an entry answers no request of an app here; nil if it may. Tokens may be bound to a key, to a claims
    /// request, or to a user assertion.
    private static func otherUse(of item: UnifiedItem, in section: UnifiedSection) -> String? {
        let type = item.text(.credentialType)?.lowercased()
        let isCredential = section != .account && section != .appMetadata
        if isCredential, let type, type != section.rawValue.lowercased() { return "a credential of another kind" }
        if item.text(.userAssertionHash) != nil || item.text(.userAssertionHashCamelCase) != nil {
            return "it was issued on behalf of a user to a server"
        }
        guard section == .accessToken else { return nil }
        if let type = item.text(.tokenType), type.lowercased() != "bearer" { return "not a bearer token" }
        let fields: [UnifiedField] = [
            .extCacheKey, .requestedClaimsCamelCase, .requestedClaimsHash, .requestedClaims,
        ]
        if fields.contains(where: { item.text($0) != nil }) || item[.ext]?.isObject == true {
            return "it answers only the request that it was issued for"
        }
        if item.text(.applicationCacheIdentifier) != nil || item.text(.enrollmentID) != nil {
            return "only the app that the device's management gave it to may use it"
        }
        return nil
    }

    /// The realm of an entry: the tenant that issued its tokens, if it is known. AD FS and OpenID providers have no tenants, whatever their
    /// tokens say.
    private mutating func realm(
        of item: UnifiedItem, from issuer: Issuer, at environment: String, _ tenants: UnifiedTenants
    ) -> String {
        let realm = UnifiedIssuers.realm(of: item)
        let hasTenants = issuer == Issuer(ofEnvironment: environment) && realm != "/" || issuer.isAtCustomDomain
        return shared(hasTenants ? tenants.tenant(of: item) ?? realm : realm)
    }

    /// The realm that the entry's library requested; nil if it is the tenant, or cannot be part of an authority. Early versions of MSAL for
    /// Node write no realm for B2C.
    private mutating func requestedRealm(_ item: UnifiedItem, _ tenant: String) -> String? {
        guard let written = item.requestableRealm, written != tenant else { return nil }
        return shared(written)
    }
}

internal import TokenModel

/// What becomes of an entry of an imported cache, given what the cache holds in its place.
enum ImportVerdict {
    case save(CacheRecord)
    /// Nothing worth mentioning: what is known of an account or an app is known already.
    case nothingNew
    case skip(String)
    /// The cache has it under another name of its cloud: it is kept for its library.
    case keep(AppMetadataRecord)

    static let known = Self.skip("the cache has it already")

    /// What is known of an account stays; gaps are filled.
    ///
    /// - Parameter isSameEntry: whether the new one is the entry that the held one is written as on export.
    static func on(_ new: AccountRecord, held: AccountRecord?, isSameEntry: Bool) -> Self {
        guard let held else { return .save(.account(new)) }
        var merged = held
        merged.localAccountID = held.localAccountID ?? new.localAccountID
        if held.username.isEmpty { merged.username = new.username }
        merged.name = held.name ?? new.name
        merged.givenName = held.givenName ?? new.givenName
        merged.familyName = held.familyName ?? new.familyName
        merged.alternativeAccountID = held.alternativeAccountID ?? new.alternativeAccountID
        merged.clientInfo = held.clientInfo ?? new.clientInfo
        if isSameEntry {
            merged.foreign = merge(held.foreign, new.foreign, named(held.environment, new.environment))
        }
        return merged == held ? .nothingNew : .save(.account(merged))
    }

    /// The one that was obtained later, where that is known of both; else the one that is held. Of two that were obtained in one
    /// second the new one, unless it is known to have been replaced already.
    static func on(_ new: RefreshTokenRecord, held: RefreshTokenRecord?) -> Self {
        guard let held else { return .save(.refreshToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard !held.hasReplaced(new.secret) else { return .skip("the cache has had it, and has one that is newer") }
        guard let newTime = new.obtainedOn, let heldTime = held.obtainedOn, newTime >= heldTime else {
            return .skip("the cache has a refresh token for the same that is newer, or not known to be older")
        }
        var token = new
        token.environment = held.environment
        token.foreign = merge(held.foreign, new.foreign, named(held.environment, new.environment))
        token.noteReplacement(of: held)
        return .save(.refreshToken(token))
    }

    static func on(_ new: AccessTokenRecord, held: AccessTokenRecord?) -> Self {
        guard let held else { return .save(.accessToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard new.isNewer(than: held) else {
            return .skip("the cache has a newer access token for the same")
        }
        var token = new
        token.environment = held.environment
        token.foreign = merge(held.foreign, new.foreign, named(held.environment, new.environment))
        return .save(.accessToken(token))
    }

    /// By the times in the tokens themselves.
    static func on(_ new: IDTokenRecord, held: IDTokenRecord?) -> Self {
        guard let held else { return .save(.idToken(new)) }
        guard new.idToken != held.idToken else { return .known }
        guard let newTime = issuedAt(new), let heldTime = issuedAt(held), newTime > heldTime else {
            return .skip("the cache has an ID token for the same that is newer, or not known to be older")
        }
        var token = new
        token.environment = held.environment
        token.foreign = merge(held.foreign, new.foreign, named(held.environment, new.environment))
        return .save(.idToken(token))
    }

    /// What the token endpoint last told the agent of an app stays.
    static func on(_ new: AppMetadataRecord, held: AppMetadataRecord?) -> Self {
        guard let held else { return .save(.appMetadata(new)) }
        guard held.isWritten(under: new.environment) else { return .keep(new) }
        var merged = held
        merged.foreign = merge(held.foreign, new.foreign, named(held.environment, new.environment))
        return merged == held ? .nothingNew : .save(.appMetadata(merged))
    }

    /// Members that another library wrote; those of the one that is held stay. What the agent saved itself becomes one of
    /// that library's, under the name of the cloud that the library goes by.
    private static func merge(_ held: String?, _ new: String?, _ name: String?) -> String? {
        guard let new, new != UnifiedItem.nothingForeign else { return held }
        var item = UnifiedItem()
        item.take(foreign: held)
        var added = UnifiedItem()
        added.take(foreign: new)
        if held == nil, added["environment"] == nil { added.put("environment", name) }
        let names = Set(item.members.map(\.name))
        item.members += added.members.filter { !names.contains($0.name) }
        let all = JSONTree.object(item.members).json
        return all.utf8.count <= ValueLimits.unknownFields ? all : held
    }

    /// The name that the library gave the cloud, where the record stands under another.
    private static func named(_ held: String, _ new: String) -> String? { held == new ? nil : new }

    private static func issuedAt(_ token: IDTokenRecord) -> Int64? {
        guard let payload = IDTokenClaims.payload(ofJWT: token.idToken) else { return nil }
        return (try? JSONReader.read(Array(payload)))?["iat"]?.integer
    }
}

extension Holdings {
    /// Whether there is an account record of a cloud.
    func isKnown(at environment: String, _ clouds: CloudDirectory) -> Bool {
        accounts.values.contains { clouds.sameCloud($0.environment, environment) }
    }

    /// What stands in the record's place, under whatever name of its cloud.
    func account(like record: AccountRecord, _ clouds: CloudDirectory) -> AccountRecord? {
        accounts[record.key]
            ?? accounts.values.filter {
                $0.realm == record.realm && clouds.sameCloud($0.environment, record.environment)
            }.min { $0.key < $1.key }
    }

    /// The app's or family's refresh token; of several under different names of the cloud, the newest.
    func refreshToken(like token: RefreshTokenRecord, _ clouds: CloudDirectory) -> RefreshTokenRecord? {
        refreshTokens[token.key]
            ?? refreshTokens.values.filter {
                $0.familyID == token.familyID && $0.only == token.only
                    && (token.familyID != nil || $0.clientID == token.clientID)
                    && clouds.sameCloud($0.environment, token.environment)
            }.max { ($0.obtainedOn ?? 0, $0.key) < ($1.obtainedOn ?? 0, $1.key) }
    }

    func accessToken(like token: AccessTokenRecord, _ clouds: CloudDirectory) -> AccessTokenRecord? {
        accessTokens[token.key]
            ?? accessTokens.values.filter {
                $0.clientID == token.clientID && $0.realm == token.realm && $0.version == token.version
                    && $0.scopes == token.scopes && clouds.sameCloud($0.environment, token.environment)
            }.min { $0.key < $1.key }
    }

    func idToken(sameAs token: IDTokenRecord, _ clouds: CloudDirectory) -> IDTokenRecord? {
        idTokens[token.key]
            ?? idTokens.values.filter {
                $0.clientID == token.clientID && $0.realm == token.realm && $0.version == token.version
                    && clouds.sameCloud($0.environment, token.environment)
            }.min { $0.key < $1.key }
    }
}

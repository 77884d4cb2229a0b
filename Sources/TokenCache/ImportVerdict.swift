internal import TokenModel

/// What becomes of an entry of an imported cache, given what the cache holds in its place.
enum ImportVerdict {
    case save(CacheRecord)
    /// Nothing worth mentioning: what is known of an account or an app is known already.
    case nothingNew
    case skip(String)

    static let known = Self.skip("the cache has it already")

    /// What is known of an account stays; gaps are filled.
    static func on(_ new: AccountRecord, held: AccountRecord?) -> Self {
        guard let held else { return .save(.account(new)) }
        var merged = held
        merged.localAccountID = held.localAccountID ?? new.localAccountID
        if held.username.isEmpty { merged.username = new.username }
        merged.name = held.name ?? new.name
        merged.givenName = held.givenName ?? new.givenName
        merged.familyName = held.familyName ?? new.familyName
        merged.alternativeAccountID = held.alternativeAccountID ?? new.alternativeAccountID
        merged.clientInfo = held.clientInfo ?? new.clientInfo
        merged.foreign = merge(held.foreign, new.foreign)
        return merged == held ? .nothingNew : .save(.account(merged))
    }

    /// The one that was obtained later, where that is known of both; else the one that is held.
    static func on(_ new: RefreshTokenRecord, held: RefreshTokenRecord?) -> Self {
        guard let held else { return .save(.refreshToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard let newTime = new.obtainedOn, let heldTime = held.obtainedOn, newTime > heldTime else {
            return .skip("the cache has a refresh token for the same that is newer, or not known to be older")
        }
        var token = new
        token.environment = held.environment
        token.foreign = merge(held.foreign, new.foreign)
        return .save(.refreshToken(token))
    }

    static func on(_ new: AccessTokenRecord, held: AccessTokenRecord?) -> Self {
        guard let held else { return .save(.accessToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard (new.cachedAt, new.expiresOn) > (held.cachedAt, held.expiresOn) else {
            return .skip("the cache has a newer access token for the same")
        }
        var token = new
        token.environment = held.environment
        token.foreign = merge(held.foreign, new.foreign)
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
        token.foreign = merge(held.foreign, new.foreign)
        return .save(.idToken(token))
    }

    /// What the token endpoint last told the agent of an app stays.
    static func on(_ new: AppMetadataRecord, held: AppMetadataRecord?) -> Self {
        guard let held else { return .save(.appMetadata(new)) }
        var merged = held
        merged.foreign = merge(held.foreign, new.foreign)
        return merged == held ? .nothingNew : .save(.appMetadata(merged))
    }

    /// Members that another library wrote; those of the one that is held stay.
    private static func merge(_ held: String?, _ new: String?) -> String? {
        guard let new, new != UnifiedItem.nothingForeign else { return held }
        guard let held, held != UnifiedItem.nothingForeign else { return new }
        guard held != new else { return held }
        var item = UnifiedItem()
        item.take(foreign: held)
        var added = UnifiedItem()
        added.take(foreign: new)
        let names = Set(item.members.map(\.name))
        item.members += added.members.filter { !names.contains($0.name) }
        return JSONTree.object(item.members).json
    }

    private static func issuedAt(_ token: IDTokenRecord) -> Int64? {
        guard let payload = IDTokenClaims.payload(ofJWT: token.idToken) else { return nil }
        return (try? JSONReader.read(Array(payload)))?["iat"]?.integer
    }
}

extension Holdings {
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

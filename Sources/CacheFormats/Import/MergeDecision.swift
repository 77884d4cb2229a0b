internal import TokenCache
internal import TokenModel

/// The result of comparing an entry of an imported cache with the record that the cache holds for the same thing.
enum MergeDecision {
    case save(CacheRecord)
    /// Change nothing and report nothing: the cache has the entry's facts about an account or an app.
    case nothingNew
    case skip(String)
    /// Keep the entry for its library: the cache has the record under another name of its cloud.
    case keep(AppMetadataRecord)

    static let known = Self.skip("the cache has it already")

    /// Adds to the held account the values that it does not have.
    ///
    /// - Parameters:
    ///   - isSameEntry: whether the held account is exported as the entry that the new one was read from.
    ///   - adalUserID: the name by which apps of ADAL know the account, if it is not found by it yet.
    static func on(_ new: AccountRecord, held: AccountRecord?, isSameEntry: Bool, adalUserID: String?) -> Self {
        guard let held else { return .save(.account(new)) }
        var merged = held
        merged.localAccountID = held.localAccountID ?? new.localAccountID
        if held.username.isEmpty { merged.username = new.username }
        if merged.username.lowercased() != adalUserID { merged.adalUserID = held.adalUserID ?? adalUserID }
        merged.name = held.name ?? new.name
        merged.givenName = held.givenName ?? new.givenName
        merged.familyName = held.familyName ?? new.familyName
        merged.alternativeAccountID = held.alternativeAccountID ?? new.alternativeAccountID
        merged.clientInfo = held.clientInfo ?? new.clientInfo
        if isSameEntry {
            merged.unknownFields = merge(
                unknownFields(of: held, in: merged), unknownFields(of: new, in: merged),
                alias(held.environment, new.environment))
        }
        return merged == held ? .nothingNew : .save(.account(merged))
    }

    /// Saves the refresh token that was obtained later, or the held one if either time is unknown. Of two that were obtained in
    /// the same second the new one is saved, unless it is known to have been replaced; so it is if the held one was obtained in what is now
    /// the future, which says nothing of the order, unless it has replaced more than are known.
    static func on(_ new: RefreshTokenRecord, held: RefreshTokenRecord?, now: Int64) -> Self {
        guard let held else { return .save(.refreshToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard !held.hasReplaced(new.secret) else { return .skip("the cache has had it, and has one that is newer") }
        guard let newTime = new.obtainedOn, let heldTime = held.obtainedOn,
            newTime >= heldTime || heldTime > now && held.knowsAllReplaced
        else {
            return .skip("the cache has a refresh token for the same that is newer, or not known to be older")
        }
        var token = replacement(of: held, by: new)
        token.noteReplacement(of: held)
        return .save(.refreshToken(token))
    }

    /// Saves the access token that was saved later, of two saved in the same second the one that expires later. A held one that was saved
    /// in what is now the future is never used.
    static func on(_ new: AccessTokenRecord, held: AccessTokenRecord?, now: Int64) -> Self {
        guard let held else { return .save(.accessToken(new)) }
        guard new.secret != held.secret else { return .known }
        guard held.cachedAt > now || new.isNewer(than: held) else {
            return .skip("the cache has a newer access token for the same")
        }
        return .save(.accessToken(replacement(of: held, by: new)))
    }

    /// Saves the ID token that was issued later, by their `iat` claims. If only one of them names its tenant, that one
    /// is saved, since an export takes the tenant of the other tokens from it.
    static func on(_ new: IDTokenRecord, held: IDTokenRecord?) -> Self {
        guard let held else { return .save(.idToken(new)) }
        guard new.idToken != held.idToken else { return .known }
        let (newClaims, heldClaims) = (OriginClaims(new), OriginClaims(held))
        guard newClaims.namesTenant == heldClaims.namesTenant else {
            guard newClaims.namesTenant else {
                return .skip("the cache has an ID token for the same that names its tenant")
            }
            return .save(.idToken(replacement(of: held, by: new)))
        }
        guard let newTime = newClaims.issuedAt, let heldTime = heldClaims.issuedAt, newTime > heldTime else {
            return .skip("the cache has an ID token for the same that is newer, or not known to be older")
        }
        return .save(.idToken(replacement(of: held, by: new)))
    }

    /// Keeps what the token endpoint last reported of an app.
    static func on(_ new: AppMetadataRecord, held: AppMetadataRecord?) -> Self {
        guard let held else { return .save(.appMetadata(new)) }
        guard held.isWritten(under: new.environment) else { return .keep(new) }
        var merged = held
        merged.unknownFields = merge(held.unknownFields, new.unknownFields, alias(held.environment, new.environment))
        return merged == held ? .nothingNew : .save(.appMetadata(merged))
    }

    /// The new token under the held one's name of the cloud, with the unknown fields of both.
    private static func replacement<Token: CredentialRecord>(of held: Token, by new: Token) -> Token {
        var token = new
        token.environment = held.environment
        token.unknownFields = merge(held.unknownFields, new.unknownFields, alias(held.environment, new.environment))
        return token
    }

    /// The unknown fields of both; those of the held record take precedence. A record that the agent made gets the environment
    /// that the library of the new one uses.
    private static func merge(_ held: String?, _ new: String?, _ alias: String?) -> String? {
        guard let new, new != UnknownFields.none else { return held }
        var fields = UnknownFields(held)
        var added = UnknownFields(new)
        // The agent's own export has these fields, and nothing else that is unknown.
        if held == nil, added.members.allSatisfy({ UnifiedField.agents.contains($0.name) }) { return nil }
        if held == nil, let alias { added.addEnvironment(alias) }
        fields.add(added)
        let all = fields.json
        return all.utf8.count <= ValueLimits.unknownFields ? all : held
    }

    /// The unknown fields of an account, without those for which the merged account has a value of the other one, such as an
    /// identifier that is too long here: in an export, an unknown field replaces the account's.
    private static func unknownFields(of account: AccountRecord, in merged: AccountRecord) -> String? {
        guard let unknown = account.unknownFields, unknown != UnknownFields.none else { return account.unknownFields }
        let (own, all) = (UnifiedItem(account), UnifiedItem(merged))
        var fields = UnknownFields(unknown)
        for name in fields.members.map(\.name) where own[name: name] == nil && all[name: name] != nil {
            fields.remove(name)
        }
        return fields.json
    }

    /// The library's name for the cloud, if the held record is saved under another.
    private static func alias(_ held: String, _ new: String) -> String? { held == new ? nil : new }
}

/// When and by which tenant an ID token was issued.
private struct OriginClaims {
    /// The `iat` claim (OpenID Connect Core 1.0 section 2), in seconds since 1970.
    let issuedAt: Int64?
    /// Whether there is a `tid` claim.
    let namesTenant: Bool

    init(_ token: IDTokenRecord) {
        let claims = IDTokenClaims.payload(ofJWT: token.idToken).flatMap { try? JSONReader.read(Array($0)) }
        issuedAt = claims?["iat"]?.integer
        namesTenant = claims?["tid"]?.string?.trimmedNonEmpty != nil
    }
}

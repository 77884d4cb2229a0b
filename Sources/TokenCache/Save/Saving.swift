internal import TokenModel

/// A token response with everything that saving it needs: the account, the tenant and the access token.
struct Saving {
    private(set) var tokens: IssuedTokens
    let issuance: Issuance
    let parameters: TokenParameters
    /// The authority of the request.
    let requested: Authority
    let environment: String
    let now: Int64
    let account: AccountKey
    let claims: IDTokenClaims?
    let accessToken: AccessTokenRecord?
    /// The binding of a new refresh token.
    private let binding: TokenBinding

    init(
        tokens: IssuedTokens, issuance: Issuance, parameters: TokenParameters, requested: Authority,
        in partition: Partition, of cache: CredentialCache, now: Int64
    ) throws(TokenError) {
        self.tokens = tokens
        self.issuance = issuance
        self.parameters = parameters
        self.requested = requested
        self.now = now
        claims = tokens.claims
        guard tokens.idToken == nil || claims != nil else {
            throw TokenError(.serverInvalidResponse, "the ID token in the response cannot be read")
        }
        account = Self.account(
            tokens, issuance, claims: claims, parameters: parameters, requested: requested, in: partition, of: cache)
        // Families of apps are Microsoft's: another provider's would put its accounts among those of every app. An emulator has them, too.
        let isEmulator = requested.kind == .entra && requested.isLoopback
        if account.issuer != .microsoft, !isEmulator { self.tokens.familyID = nil }
        guard !account.imitatesAnotherKey else {
            throw TokenError(
                .serverInvalidResponse, "the response names an account in a way that could be taken for another's name")
        }
        guard tokens.familyID.map({ ValueLimits.isIdentifier($0.text) }) ?? true else {
            throw TokenError(.serverInvalidResponse, "the response names a family of apps in too many words")
        }
        environment = cache.cacheEnvironment(of: requested)
        // A refresh token stays bound to where the user signed in.
        binding = issuance.redeemedToken?.binding ?? Self.binding(tokens, at: requested, cache.clouds)
        accessToken = Self.accessToken(
            tokens, account: account, parameters: parameters, environment: environment,
            realm: Self.realm(account: account, claims: claims, parameters: parameters, requested: requested), now: now)
    }

    /// The binding of a sign-in's refresh token: to the token endpoint that issued it or, if that is one of Microsoft's and has named
    /// the user's cloud, to that cloud's.
    private static func binding(
        _ tokens: IssuedTokens, at requested: Authority, _ clouds: CloudDirectory
    ) -> TokenBinding {
        let isMicrosofts =
            CloudDirectory.isBuiltIn(requested.environment)
            && tokens.endpoint.map { CloudDirectory.isBuiltIn($0.environment) } ?? true
        return clouds.binding(to: requested, endpoint: isMicrosofts ? nil : tokens.endpoint)
    }

    /// The tenant that issued the tokens.
    var tenant: String { Self.tenant(account: account, claims: claims, requested: requested) }

    private static func tenant(account: AccountKey, claims: IDTokenClaims?, requested: Authority) -> String {
        switch requested.kind {
        case _ where requested.isAtCustomDomain: requested.realm(for: account, .v2)
        case .entra, .ciam: claims?.tenantID?.lowercased() ?? requested.realm.lowercased()
        case .b2c: account.homeAccountID?.tenantID ?? claims?.tenantID?.lowercased() ?? requested.realm.lowercased()
        // An AD FS has no tenants, and the `tid` claim of another OpenID provider is not an Entra tenant.
        case .adfs, .openID: requested.realm.lowercased()
        }
    }

    /// The account of the response. The account of a redeemed token keeps its key, even if other names of its cloud
    /// have been learnt since.
    static func account(
        _ tokens: IssuedTokens, _ issuance: Issuance, claims: IDTokenClaims?, parameters: TokenParameters,
        requested: Authority, in partition: Partition, of cache: CredentialCache
    ) -> AccountKey {
        let identity = identity(tokens, issuance, claims: claims, parameters: parameters, requested: requested)
        if let used = issuance.redeemedToken?.account {
            return AccountKey(issuer: used.issuer, identity: identity)
        }
        return cache.accountKey(identity, at: requested, in: partition)
    }

    /// The user whom `client_info` names; without it the user of the redeemed token, the `sub` claim, or the username.
    /// `client_info` is Microsoft's, and means nothing in the response of another OpenID provider.
    private static func identity(
        _ tokens: IssuedTokens, _ issuance: Issuance, claims: IDTokenClaims?, parameters: TokenParameters,
        requested: Authority
    ) -> AccountKey.Identity {
        if let identifier = tokens.homeAccountID, requested.kind != .openID { return .home(identifier) }
        if let used = issuance.redeemedToken { return used.account.identity }
        let isEntra = requested.kind == .entra || requested.kind == .ciam
        let identifier = claims?.subject.flatMap { HomeAccountID.ofUser(withSubject: $0, at: requested.kind) }
        if parameters.version == .v2 || !isEntra, let identifier { return .home(identifier) }
        return AccountKey.Identity(homeAccountID: nil, username: claims?.v1UserID)
    }

    /// The realm of the access token in the cache: for MSAL the tenant that issued it, for ADAL the requested realm.
    private static func realm(
        account: AccountKey, claims: IDTokenClaims?, parameters: TokenParameters, requested: Authority
    ) -> String {
        parameters.version == .v1
            ? requested.realm(for: account, .v1) : tenant(account: account, claims: claims, requested: requested)
    }

    private static func accessToken(
        _ tokens: IssuedTokens, account: AccountKey, parameters: TokenParameters, environment: String, realm: String,
        now: Int64
    ) -> AccessTokenRecord? {
        guard let secret = tokens.accessToken else { return nil }
        return AccessTokenRecord(
            account: account, environment: environment, clientID: parameters.clientID, realm: realm,
            version: parameters.version, scopes: granted(tokens, parameters).limited(keeping: parameters.scopes),
            tokenType: tokens.tokenType, secret: secret, cachedAt: now,
            expiresOn: now + tokens.expiresIn, extendedExpiresOn: tokens.extendedExpiresIn.map { now + $0 },
            refreshOn: tokens.refreshIn.map { now + $0 })
    }

    /// The granted scopes. Microsoft's token endpoints do not name `.default` among them if the resource is one of the v1 endpoint, and an
    /// AD FS never does: to a request for nothing else, it is granted with whatever they name.
    private static func granted(_ tokens: IssuedTokens, _ parameters: TokenParameters) -> ScopeSet {
        guard parameters.version == .v2, let granted = tokens.scopes else { return parameters.scopes }
        switch parameters.authority.kind {
        case .entra, .b2c, .ciam, .adfs:
            let requested = parameters.scopes.subtracting(.reserved)
            guard requested.scopes.count == 1, requested.scopes[0].lowercased().hasSuffix(".default") else {
                return granted
            }
            return granted.union(requested)
        // A request finds its token by its own spelling, also at a provider that does not keep the case of scopes.
        case .openID: return granted.spelled(as: parameters.scopes)
        }
    }

    var idToken: IDTokenRecord? {
        guard let idToken = tokens.idToken, let claims else { return nil }
        return IDTokenRecord(
            account: account, environment: environment, clientID: parameters.clientID,
            realm: Self.realm(account: account, claims: claims, parameters: parameters, requested: requested),
            version: parameters.version, idToken: idToken, claims: claims)
    }
}

extension ScopeSet {
    /// The same scopes, each as `other` writes it if that has it.
    fileprivate func spelled(as other: ScopeSet) -> ScopeSet {
        let spellings = Dictionary(
            other.scopes.map { ($0.inLowerCase, $0) }, uniquingKeysWith: { first, _ in first })
        return ScopeSet(scopes.map { spellings[$0.inLowerCase] ?? $0 })
    }
}

extension Saving {
    /// The records to write, the most important first. A renewed record keeps its unknown fields.
    ///
    /// - Parameter formerNames: the usernames of the accounts that become this one.
    /// - Throws: `serverInvalidResponse` (-51401) if a value in the response is longer than the store allows.
    func records(
        knownBefore credentials: AccountCredentials, formerNames: [String], app: AppMetadataRecord?,
        _ clouds: CloudDirectory
    ) throws(TokenError) -> [CacheRecord] {
        var records = refreshTokens.map { token in
            var token = token
            token.unknownFields = credentials.refreshTokens[token.key]?.unknownFields
            if let held = credentials.refreshToken(like: token, clouds) { token.noteReplacement(of: held) }
            if case .redemption(let used) = issuance { token.noteReplacement(of: used) }
            return CacheRecord.refreshToken(token)
        }
        if var accessToken {
            let held = credentials.accessToken(like: accessToken, clouds)
            accessToken.unknownFields = held?.environment == accessToken.environment ? held?.unknownFields : nil
            let record = CacheRecord.accessToken(accessToken)
            records.append(held.map { record.inheritingUnknownFields(from: .accessToken($0)) } ?? record)
        }
        if var idToken {
            idToken.unknownFields = credentials.idTokens[idToken.key]?.unknownFields
            records.append(.idToken(idToken))
        }
        if let account = account(knownBefore: credentials, formerNames) { records.append(.account(account)) }
        if tokens.isMultiResource { records.append(.appMetadata(appMetadata(knownBefore: app))) }
        records.append(.accountMetadata(metadata(knownBefore: credentials)))
        return try Self.withinLimits(records)
    }

    private static func withinLimits(_ records: [CacheRecord]) throws(TokenError) -> [CacheRecord] {
        do throws(LimitViolation) {
            var fitting: [CacheRecord] = []
            for record in records { fitting.append(try record.withinLimits()) }
            return fitting
        } catch {
            throw TokenError(.serverInvalidResponse, "a part of the response cannot be kept: \(error.reason)")
        }
    }

    /// The app's own refresh token, and its family's if it has one; empty if the response has none, and the old ones stay.
    private var refreshTokens: [RefreshTokenRecord] {
        guard let secret = tokens.refreshToken else { return [] }
        let own = RefreshTokenRecord(
            account: account, environment: environment, clientID: parameters.clientID, familyID: nil, secret: secret,
            restriction: restriction, binding: binding, obtainedOn: now)
        guard let family = tokens.familyID else { return [own] }
        var shared = own
        shared.familyID = family
        return [own, shared]
    }

    /// The restriction of the refresh token. Several OpenID providers may share a host: a token of one is of no use to another.
    private var restriction: RefreshTokenRecord.Restriction? {
        let realm = requested.realm(for: account, parameters.version)
        if !tokens.isMultiResource { return RefreshTokenRecord.Restriction(realm: realm, scopes: parameters.scopes) }
        return requested.kind == .openID ? RefreshTokenRecord.Restriction(realm: realm, scopes: ScopeSet([])) : nil
    }

    private func account(knownBefore credentials: AccountCredentials, _ formerNames: [String]) -> AccountRecord? {
        guard let claims else {
            // Without an ID token the response says nothing new about the account.
            guard credentials.accounts.isEmpty, let name = account.name else { return nil }
            return blankAccount(username: name)
        }
        var record = blankAccount(username: username(claims) ?? claims.subject ?? "")
        // The ID token of a redemption need not repeat the user's names (OpenID Connect Core 1.0 section 12.2).
        if requested.kind == .openID, username(claims) == nil, let known = credentials.accounts[record.key] {
            record.username = known.username
        }
        // The key of a record without an identifier is its username, which has to be that of the tokens.
        if let name = account.name, record.username.lowercased() != name { record.username = name }
        record.localAccountID = claims.localAccountID
        record.name = claims.name
        record.givenName = claims.givenName
        record.familyName = claims.familyName
        record.alternativeAccountID = claims.alternativeSecurityID
        record.clientInfo = tokens.clientInfo
        let known = credentials.accounts[record.key]
        record.unknownFields = known?.unknownFields
        let presentName = record.username.lowercased()
        let formerName = formerNames.compactMap { $0.trimmedNonEmpty }.first { $0 != presentName }
        let userID =
            parameters.version == .v1 ? claims.adalUserID : adalUserID(of: known, formerName, among: credentials)
        record.adalUserID = userID == presentName ? nil : userID
        record.formerUserIDs = formerUserIDs(of: known, formerNames, replacedBy: record, among: credentials)
        // A response to ADAL replaces neither the source of an account record that MSAL has made, nor the spelling of
        // its names, which ADAL has in lower case.
        if let known, known.source == AccountRecord.msalSource {
            record.source = AccountRecord.msalSource
            if known.username.lowercased() == record.username.lowercased() { record.username = known.username }
        }
        return record
    }

    /// The user ID that ADAL has given its apps, which name the user by it, whatever MSAL's endpoint calls the user since; nil if it is not
    /// known.
    ///
    /// - Parameters:
    ///   - known: the account record that is replaced.
    ///   - formerName: the username by which alone an older ADAL knew the account.
    private func adalUserID(
        of known: AccountRecord?, _ formerName: String?, among credentials: AccountCredentials
    ) -> String? {
        known.flatMap { $0.adalUserID } ?? formerName ?? known.flatMap { userID(of: $0, among: credentials) }
    }

    /// The user ID that apps of ADAL have got with the account of a record; nil if none has got tokens, as far as is known.
    private func userID(of known: AccountRecord, among credentials: AccountCredentials) -> String? {
        if let userID = known.adalUserID { return userID }
        // An app of ADAL that has got tokens of the record's tenant has got its username with them.
        let isOfADAL =
            known.source == AccountRecord.adalSource
            || credentials.idTokens.values.contains {
                $0.version == .v1 && ($0.tenant == known.realm || $0.realm == known.realm)
            }
        return isOfADAL ? known.username.trimmedNonEmpty?.lowercased() : nil
    }

    /// The user IDs that ADAL has given its apps before: an app names the user by the one that it has saved.
    private func formerUserIDs(
        of known: AccountRecord?, _ formerNames: [String], replacedBy record: AccountRecord,
        among credentials: AccountCredentials
    ) -> [String]? {
        let last = known.flatMap { userID(of: $0, among: credentials) }
        let all = [last].compactMap(\.self) + formerNames.compactMap(\.trimmedNonEmpty) + (known?.formerUserIDs ?? [])
        var seen = record.names
        let former = all.filter { seen.insert($0).inserted }.prefix(AccountRecord.maximumFormerUserIDs)
        return former.isEmpty ? nil : Array(former)
    }

    /// The name by which the claims call the user; nil if they have none. The subject of an OpenID provider is no name.
    private func username(_ claims: IDTokenClaims) -> String? {
        let preferred = claims.preferredUsername?.trimmedNonEmpty
        switch (requested.kind, parameters.version) {
        // The text that MSAL returns; apps may depend on it.
        case (.b2c, .v2): return preferred ?? Account.missingUsername
        case (.openID, _):
            return preferred ?? claims.upn?.trimmedNonEmpty ?? claims.email?.trimmedNonEmpty
        case (_, .v1): return claims.preferredUsername ?? claims.v1UserID
        case (_, .v2): return claims.username
        }
    }

    private func blankAccount(username: String) -> AccountRecord {
        AccountRecord(
            issuer: account.issuer, homeAccountID: account.homeAccountID?.text, environment: environment, realm: tenant,
            localAccountID: nil,
            username: username, authorityType: AccountRecord.type(of: requested),
            source: parameters.version == .v1 ? AccountRecord.adalSource : AccountRecord.msalSource)
    }

    private func appMetadata(knownBefore known: AppMetadataRecord?) -> AppMetadataRecord {
        AppMetadataRecord(
            clientID: parameters.clientID.text, environment: known?.environment ?? environment,
            familyID: tokens.familyID?.text ?? "", unknownFields: known?.unknownFields)
    }

    /// The maximum number of authorities whose issuers are noted for an app and an account. Each is saved again with every response.
    private static let maximumAuthorities = 16

    private func metadata(knownBefore credentials: AccountCredentials) -> AccountMetadataRecord {
        var map = credentials.metadata[parameters.clientID.key]?.authorityMap ?? [:]
        if parameters.version == .v2 {
            if map.count >= Self.maximumAuthorities, map[parameters.authorityMapKey] == nil {
                map[map.keys.sorted()[0]] = nil
            }
            map[parameters.authorityMapKey] =
                requested.isAtCustomDomain ? parameters.authority.url : requested.withRealm(tenant).url
        }
        return AccountMetadataRecord(
            account: account, clientID: parameters.clientID, signInState: .signedIn, authorityMap: map)
    }

    /// The result for the app. B2C issues only an ID token if no resource was requested; the access token is empty then.
    ///
    /// - Parameter records: the records that are saved.
    /// - Throws: `serverInvalidResponse` (-51401) if there is no token, or no account it belongs to.
    func result(
        of records: [CacheRecord], cache: CredentialCache, credentials: AccountCredentials
    ) throws(TokenError) -> TokenResult {
        var after = credentials
        var accessToken: AccessTokenRecord?
        for record in records {
            switch record {
            case .account(let account): after.accounts[account.key] = account
            case .idToken(let token): after.setIDToken(token, token.key)
            case .accessToken(let token): accessToken = token
            default: break
            }
        }
        guard let accessToken = accessToken ?? emptyToken,
            var result = cache.result(for: accessToken, parameters, at: requested, credentials: after)
        else {
            throw TokenError(.serverInvalidResponse, "the response holds no access token, or does not say whose it is")
        }
        result.isFromCache = false
        result.familyID = tokens.familyID
        result.hasMultiResourceRefreshToken = tokens.isMultiResource && hasRefreshTokenForAll
        return result
    }

    /// Whether the response has a refresh token, or leaves the redeemed one as it is, which serves every resource.
    private var hasRefreshTokenForAll: Bool {
        tokens.refreshToken != nil || issuance.redeemedToken.map { !$0.isSingleResource } ?? false
    }

    private var emptyToken: AccessTokenRecord? {
        guard parameters.version == .v2, let idToken else { return nil }
        return AccessTokenRecord(
            account: account, environment: environment, clientID: idToken.clientID, realm: idToken.realm, version: .v2,
            scopes: (tokens.scopes ?? ScopeSet([])).limited(keeping: parameters.scopes), tokenType: tokens.tokenType,
            secret: Secret(""), cachedAt: now,
            expiresOn: now + tokens.expiresIn, extendedExpiresOn: nil, refreshOn: nil)
    }
}

internal import Foundation
internal import Testing
package import TokenCache
package import TokenModel

/// A cache made of token responses, as the agent makes it.
package struct CacheBuilder {
    package var cache = CredentialCache()
    package var now: Int64 = 1_800_000_000

    package init() {}

    package static let app = ClientID("app-1")
    package static let otherApp = ClientID("app-2")
    package static let tenant = "7a1e0000-0000-4000-8000-000000000001"

    /// Parameters of an app, for the public cloud unless said otherwise.
    package func parameters(
        _ clientID: String = "app-1", scopes: [String] = ["User.Read"], resource: String? = nil,
        authority: String = "https://login.microsoftonline.com/common", group: SharingGroup = .standard,
        claims: String? = nil
    ) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID(clientID)), sharingGroup: group, authority: try Authority(authority),
            version: resource == nil ? .v2 : .v1, scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes),
            claims: claims)
    }

    /// Parameters of an app for an authority of a kind.
    package static func parameters(_ url: String, _ kind: Authority.Kind) throws -> TokenParameters {
        var parameters = try CacheBuilder().parameters()
        parameters.authority = try Authority(url, kind: kind)
        return parameters
    }

    /// Saves what a sign-in of `user` would bring, and applies it.
    @discardableResult
    package mutating func signIn(
        _ user: String, _ parameters: TokenParameters, refreshToken: String? = nil, family: String? = nil,
        expiresIn: Int64 = 3600, refreshIn: Int64? = nil, extendedExpiresIn: Int64? = nil,
        tenant: String = tenant, homeTenant: String = tenant, hasClientInfo: Bool = true, granted: [String]? = nil
    ) throws -> TokenResult {
        let tokens = IssuedTokens(
            accessToken: Secret("at-\(user)-\(parameters.scopes.target)"), tokenType: "Bearer", expiresIn: expiresIn,
            extendedExpiresIn: extendedExpiresIn, refreshIn: refreshIn, scopes: granted.map { ScopeSet($0) },
            refreshToken: Secret(refreshToken ?? "rt-\(user)-\(parameters.clientID)"), isMultiResource: true,
            idToken: Self.idToken(user, tenant: tenant, version: parameters.version),
            homeAccountID: hasClientInfo ? HomeAccountID(uid: "oid-\(user)", utid: homeTenant) : nil, clientInfo: nil,
            familyID: family.flatMap(FamilyID.init))
        return try save(tokens, from: .signIn, parameters)
    }

    @discardableResult
    package mutating func save(
        _ tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at asked: Authority? = nil
    ) throws -> TokenResult {
        let saved = try cache.changes(
            saving: tokens, from: issuance, parameters, at: asked ?? parameters.authority, now: now)
        cache.apply(saved.changes, in: parameters.sharingGroup)
        return saved.result
    }

    package mutating func remove(_ request: RemoveAccount) {
        cache.apply(cache.changes(removing: request), in: request.sharingGroup)
    }

    package func decide(
        _ parameters: TokenParameters, _ account: AccountReference, force: Bool = false, buffer: Int64 = 300,
        extended: Bool = false
    ) -> SilentDecision {
        let request = AcquireTokenSilent(
            parameters: parameters, account: account, forceRefresh: force, expirationBuffer: buffer,
            allowsExtendedLifetime: extended)
        return cache.decide(request, now: now)
    }

    package static func account(_ user: String, tenant: String = tenant) -> AccountReference {
        AccountReference(homeAccountID: HomeAccountID(uid: "oid-\(user)", utid: tenant))
    }

    package static func idToken(_ user: String, tenant: String, version: OAuthVersion) -> String {
        let name = version == .v2 ? "preferred_username" : "upn"
        let claims = [
            "ver": version == .v2 ? "2.0" : "1.0", "tid": tenant, "oid": "oid-\(user)-in-\(tenant.prefix(4))",
            "sub": "sub-\(user)", name: "\(user)@contoso.com",
        ]
        return idToken(claims)
    }

    package static func idToken(_ claims: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let payload = (try? encoder.encode(claims)) ?? Data()
        return "\(Base64URL.encode(Data("{}".utf8))).\(Base64URL.encode(payload))."
    }
}

extension SilentDecision {
    package var token: String? {
        if case .use(let result, _) = self { result.accessToken.reveal() } else { nil }
    }

    package var candidates: [String]? {
        if case .redeem(let plan) = self { plan.candidates.map { $0.secret.reveal() } } else { nil }
    }

    package var needsInteraction: Bool {
        if case .interactionRequired = self { true } else { false }
    }
}

extension CredentialCache {
    /// The changes of redeeming the app's only refresh token for an MSAL app.
    package func redeemForMSAL(_ clientID: String, now: Int64, inUse: Set<Secret> = []) throws -> SavedTokens {
        let app = try #require(ClientID(clientID))
        let account = try #require(accounts(ListAccounts(clientID: app)).accounts.first)
        let parameters = TokenParameters(clientID: app, authority: .common, scopes: ScopeSet(["User.Read"]))
        let request = AcquireTokenSilent(parameters: parameters, account: account.reference)
        guard case .redeem(let plan) = decide(request, now: now), let used = plan.candidates.first else {
            throw TokenError(.internalError, "nothing to redeem")
        }
        let tokens = IssuedTokens(
            accessToken: Secret("at-new"), tokenType: "Bearer", expiresIn: 3600, extendedExpiresIn: nil, refreshIn: nil,
            scopes: nil, refreshToken: Secret("rt-new"), isMultiResource: true, idToken: Self.aliceIDToken,
            homeAccountID: HomeAccountID("oid.tid"), clientInfo: nil, familyID: nil)
        return try changes(
            saving: tokens, from: .redemption(used), parameters, at: plan.authority, now: now, leaving: inUse)
    }

    /// The user's identifiers in the directory of CacheFormatsTests/Fixtures/adal-json.
    private static let aliceIDToken = CacheBuilder.idToken([
        "ver": "2.0", "tid": "72f988bf-0000-4000-8000-2d7cd011db47", "oid": "11111111-1111-1111-1111-111111111111",
        "sub": "s", "preferred_username": "alice@contoso.onmicrosoft.com",
    ])
}

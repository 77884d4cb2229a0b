internal import Foundation
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// A cache made of token responses, as the agent makes it.
struct CacheBuilder {
    var cache = CredentialCache()
    var now: Int64 = 1_800_000_000

    static let app = ClientID("app-1")
    static let otherApp = ClientID("app-2")
    static let tenant = "7a1e0000-0000-4000-8000-000000000001"

    /// Parameters of an app, for the public cloud unless said otherwise.
    func parameters(
        _ clientID: String = "app-1", scopes: [String] = ["User.Read"], resource: String? = nil,
        authority: String = "https://login.microsoftonline.com/common", group: SharingGroup = .standard,
        claims: String? = nil
    ) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID(clientID)), sharingGroup: group, authority: try Authority(authority),
            version: resource == nil ? .v2 : .v1, scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes),
            claims: claims)
    }

    /// Saves what a sign-in of `user` would bring, and applies it.
    @discardableResult
    mutating func signIn(
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
    mutating func save(
        _ tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at asked: Authority? = nil
    ) throws -> TokenResult {
        let saved = try cache.changes(
            saving: tokens, from: issuance, parameters, at: asked ?? parameters.authority, now: now)
        cache.apply(saved.changes, in: parameters.sharingGroup)
        return saved.result
    }

    mutating func remove(_ request: RemoveAccount) {
        cache.apply(cache.changes(removing: request), in: request.sharingGroup)
    }

    func decide(
        _ parameters: TokenParameters, _ account: AccountReference, force: Bool = false, buffer: Int64 = 300,
        extended: Bool = false
    ) -> SilentDecision {
        let request = AcquireTokenSilent(
            parameters: parameters, account: account, forceRefresh: force, expirationBuffer: buffer,
            allowsExtendedLifetime: extended)
        return cache.decide(request, now: now)
    }

    static func account(_ user: String, tenant: String = tenant) -> AccountReference {
        AccountReference(homeAccountID: HomeAccountID(uid: "oid-\(user)", utid: tenant))
    }

    static func idToken(_ user: String, tenant: String, version: OAuthVersion) -> String {
        let name = version == .v2 ? "preferred_username" : "upn"
        let claims = [
            "ver": version == .v2 ? "2.0" : "1.0", "tid": tenant, "oid": "oid-\(user)-in-\(tenant.prefix(4))",
            "sub": "sub-\(user)", name: "\(user)@contoso.com",
        ]
        return idToken(claims)
    }

    static func idToken(_ claims: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let payload = (try? encoder.encode(claims)) ?? Data()
        return "\(Base64URL.encode(Data("{}".utf8))).\(Base64URL.encode(payload))."
    }
}

extension SilentDecision {
    var token: String? {
        if case .use(let result) = self { result.accessToken.reveal() } else { nil }
    }

    var candidates: [String]? {
        if case .redeem(let plan) = self { plan.candidates.map { $0.secret.reveal() } } else { nil }
    }

    var needsInteraction: Bool {
        if case .interactionRequired = self { true } else { false }
    }
}

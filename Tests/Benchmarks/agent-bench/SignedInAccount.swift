internal import Foundation
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// An account with tokens of the size that Entra issues, and the request that finds them.
enum SignedInAccount {
    /// The silent request that is measured.
    static var request: AcquireTokenSilent {
        get throws {
            AcquireTokenSilent(
                parameters: try parameters, account: AccountReference(homeAccountID: homeAccountID))
        }
    }

    /// The silent request of an app that uses ADAL, which names the account by its username.
    static var adalRequest: AcquireTokenSilent {
        get throws {
            var parameters = try parameters
            parameters.version = .v1
            parameters.scopes = ScopeSet(resource: "https://graph.microsoft.com")
            return AcquireTokenSilent(parameters: parameters, account: AccountReference(username: "ada@contoso.com"))
        }
    }

    /// The changes of a store by the response to a request of ADAL for account 0.
    static func adalChanges() throws -> [StoreChange] {
        let parameters = try adalRequest.parameters
        var tokens = issued
        tokens.scopes = nil
        let saved = try CredentialCache().changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority, now: now)
        return saved.changes.map { $0.stored(in: parameters.sharingGroup) }
    }

    /// The changes of a store by a token response for an account; account 0 is the requested one.
    static func changes(_ number: Int = 0) throws -> [StoreChange] {
        let parameters = try parameters
        var tokens = issued
        if number > 0 { tokens.homeAccountID = HomeAccountID(uid: "object-\(number)", utid: tenant) }
        let saved = try CredentialCache().changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority.withRealm(tenant), now: now)
        return saved.changes.map { $0.stored(in: parameters.sharingGroup) }
    }

    /// Further access tokens of account 0, each for another scope, as a sign-in to many apps leaves them.
    private static func furtherTokens(_ count: Int) throws -> [StoreChange] {
        let parameters = try parameters
        return (0..<count).map { number in
            let token = AccessTokenRecord(
                account: AccountKey(issuer: .microsoft, homeAccountID: homeAccountID, username: nil),
                environment: "login.windows.net", clientID: parameters.clientID, realm: tenant, version: .v2,
                scopes: ScopeSet(["Further.\(number)", "profile", "openid"]), tokenType: "Bearer",
                secret: Secret("further-\(number)"), cachedAt: now, expiresOn: now + 86_400, extendedExpiresOn: nil,
                refreshOn: nil)
            return CacheChange.save(.accessToken(token)).stored(in: parameters.sharingGroup)
        }
    }

    /// Opens a store for a benchmark.
    static func open(_ stateDirectory: String) throws -> Store {
        try Store.open(directory: stateDirectory, StoreOptions { now })
    }

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Writes accounts into a store, as sign-ins do.
    ///
    /// - Parameters:
    ///   - furtherTokens: the access tokens that account 0 has besides the requested one.
    ///   - usesADAL: whether account 0 has tokens of an app that uses ADAL too.
    static func seed(
        stateDirectory: String, accounts: Int = 1, furtherTokens: Int = 0, usesADAL: Bool = false
    ) async throws {
        let store = try open(stateDirectory)
        if furtherTokens > 0 { try await store.commit(try self.furtherTokens(furtherTokens)) }
        for first in stride(from: 0, to: accounts, by: 500) {
            try await store.commit(try (first..<min(first + 500, accounts)).flatMap { try changes($0) })
        }
        if usesADAL { try await store.commit(try adalChanges()) }
        await store.close()
    }

    private static var parameters: TokenParameters {
        get throws {
            guard let clientID = ClientID("4a1aa1d5-c567-49d0-ad0b-cd957a47f842") else {
                throw BenchError("not a client ID")
            }
            return TokenParameters(
                clientID: clientID, authority: try Authority("https://login.microsoftonline.com/\(tenant)"),
                scopes: ScopeSet(["User.Read", "Mail.Read"]))
        }
    }

    private static var issued: IssuedTokens {
        IssuedTokens(
            accessToken: Secret(String(repeating: "a", count: 1500)), tokenType: "Bearer", expiresIn: 86_400,
            extendedExpiresIn: nil, refreshIn: nil, scopes: ScopeSet(["User.Read", "Mail.Read", "profile", "openid"]),
            refreshToken: Secret(String(repeating: "r", count: 1200)), isMultiResource: true, idToken: idToken,
            homeAccountID: homeAccountID, clientInfo: nil, familyID: nil)
    }

    /// An unsigned JWT of about 1 kB.
    private static var idToken: String {
        let claims = """
            {"ver":"2.0","iss":"https://login.microsoftonline.com/\(tenant)/v2.0","sub":"\(object)","oid":"\(object)",\
            "tid":"\(tenant)","preferred_username":"ada@contoso.com","name":"Ada","nonce":"n"}
            """
        let payload = Data(claims.utf8).base64EncodedString().replacing("=", with: "")
        return "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.\(payload).\(String(repeating: "s", count: 512))"
    }

    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let object = "9f4880d8-80ba-4c40-97bc-f7a23c703084"
    private static let homeAccountID = HomeAccountID(uid: object, utid: tenant)
}

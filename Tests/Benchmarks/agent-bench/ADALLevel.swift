internal import ADALCompat
internal import AgentClient
internal import CBenchSystem
internal import Foundation
internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The async method of ADAL, for a user who is named.
struct ADALLevel: Level {
    let name: String
    private let client: AgentClient

    init(socketPath: String, keepsResults: Bool) {
        client = AgentClient(socketPath: socketPath, appName: "agent-bench", keepsResults: keepsResults)
        name = keepsResults ? "ADALCompat, kept" : "ADALCompat"
    }

    @concurrent func sample(_ count: Int) async throws -> Sample {
        let parameters = try SignedInAccount.adalParameters
        guard let redirect = URL(string: "https://localhost"), let resource = parameters.scopes.resource,
            let context = ADAuthenticationContext(
                authority: parameters.authority.url, validateAuthority: true, error: nil)
        else { throw BenchError("ADAL refuses \(parameters.authority)") }
        context.agent = client
        var nanoseconds: [UInt64] = []
        nanoseconds.reserveCapacity(count)
        for _ in 0..<count {
            let start = bench_now()
            let result = await context.acquireTokenSilent(
                withResource: resource, clientId: parameters.clientID.text, redirectUri: redirect,
                userId: SignedInAccount.username)
            nanoseconds.append(bench_now() - start)
            guard result.status == AD_SUCCEEDED else { throw BenchError("ADAL gets no token: \(result.error as Any)") }
        }
        return Sample(nanoseconds)
    }
}

extension SignedInAccount {
    fileprivate static let username = "ada@contoso.com"

    /// The parameters of ADAL's request.
    fileprivate static var adalParameters: TokenParameters {
        get throws {
            let parameters = try request.parameters
            return TokenParameters(
                clientID: parameters.clientID, authority: parameters.authority, version: .v1,
                scopes: ScopeSet(resource: "https://graph.windows.net"))
        }
    }

    /// Adds what a sign-in with ADAL brings for the account.
    static func seedADAL(stateDirectory: String) async throws {
        let parameters = try adalParameters
        guard let account = try request.account.homeAccountID, let object = account.objectID,
            let tenant = account.tenantID
        else { throw BenchError("the account has no identifier") }
        let claims = """
            {"ver":"1.0","iss":"https://sts.windows.net/\(tenant)/","sub":"\(object)","oid":"\(object)",\
            "tid":"\(tenant)","upn":"\(username)","unique_name":"\(username)","name":"Ada"}
            """
        let payload = Data(claims.utf8).base64EncodedString().replacing("=", with: "")
        let tokens = IssuedTokens(
            accessToken: Secret(String(repeating: "a", count: 1500)), tokenType: "Bearer", expiresIn: 86_400,
            extendedExpiresIn: nil, refreshIn: nil, scopes: nil,
            refreshToken: Secret(String(repeating: "r", count: 1200)), isMultiResource: true,
            idToken: "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.\(payload).\(String(repeating: "s", count: 512))",
            homeAccountID: account, clientInfo: nil, familyID: nil)
        let saved = try CredentialCache().changes(
            saving: tokens, from: .signIn, parameters, at: parameters.authority,
            now: Int64(Date().timeIntervalSince1970))
        let store = try open(stateDirectory)
        try await store.commit(try saved.changes.map { try $0.stored(in: parameters.sharingGroup) })
        await store.close()
    }
}

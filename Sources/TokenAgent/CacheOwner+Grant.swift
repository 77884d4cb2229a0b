internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Trades a grant of the app's own for tokens. The cache is not asked, and a refusal removes nothing from it.
    func redeemGrant(_ request: RedeemGrant) -> Answer<TokenResult> {
        if let refusal = refusal(of: request.parameters) { return .now(.failure(refusal)) }
        return .later(
            later { owner async throws(TokenError) in
                // The same refresh token may be in the cache as well: one at a time, whoever sends it.
                while let inUse = owner.refreshTokensInUse[request.grant] { _ = try? await inUse.get() }
                return try await owner.using(request.grant) { () async throws(TokenError) in
                    try await owner.send(request)
                }
            })
    }

    private func send(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        let parameters = request.parameters
        let authority = try await resolve(parameters.authority, parameters, username: request.account.username)
        let response = try await endpoint.redeem(tokenRequest(request.tokenGrant, at: authority, parameters))
        return try await save(response, from: .signIn, parameters, at: parameters.authority)
    }
}

extension RedeemGrant {
    fileprivate var tokenGrant: Grant {
        switch kind {
        case .refreshToken: .refreshToken(grant)
        case .saml11: .assertion(grant, isSAML2: false)
        case .saml2: .assertion(grant, isSAML2: true)
        }
    }
}

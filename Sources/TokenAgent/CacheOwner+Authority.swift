internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension CacheOwner {
    /// The authority under the name that its cloud wants requests at, once it is known to be one.
    ///
    /// Asks instance discovery once for an Entra host that nobody knows. An AD FS has to be the user's own, which `username`
    /// tells. What is known needs no network.
    ///
    /// - Throws: `authorityValidation` (-51600) for a host that is no authority, unless the app vouches for it;
    ///   `serverInvalidResponse` (-51401) for discovery that makes no sense, even then.
    func resolve(
        _ authority: Authority, _ parameters: TokenParameters, username: String?
    ) async throws(TokenError) -> Authority {
        switch authority.kind {
        case .entra where !cache.clouds.knows(authority.environment): try await discover(authority, parameters)
        case .adfs where needsValidation(authority, parameters): try await validate(authority, parameters, username)
        default: break
        }
        return authority.withEnvironment(cache.clouds.cloud(of: authority.environment).preferredNetwork)
    }

    /// The request that trades a grant at a resolved authority. Its refresh token goes nowhere but to the authority's own cloud.
    func tokenRequest(_ grant: Grant, at authority: Authority, _ parameters: TokenParameters) -> TokenRequest {
        let allowed: Set<String>? =
            switch authority.kind {
            case .entra: Set(cache.clouds.cloud(of: authority.environment).aliases + [authority.environment])
            case .b2c, .adfs, .ciam: [authority.environment]
            // Its discovery document decides, and names its issuer.
            case .openID: nil
            }
        return TokenRequest(
            grant: grant, clientID: parameters.clientID, authority: authority, version: parameters.version,
            scopes: parameters.scopes, claims: parameters.mergedClaims, redirectURI: parameters.redirectURI,
            extraParameters: parameters.extraParameters, correlationID: parameters.correlationID,
            allowedEnvironments: allowed)
    }

    /// Remembers learnt clouds, so that the next start needs no network for a cached token. No request fails when they
    /// cannot be written: the next commit tries again.
    func learn(_ clouds: [CloudDirectory.Cloud], from environment: String) async {
        guard cache.clouds.learn(clouds, from: environment) else { return }
        var changes: [StoreChange] = []
        for cloud in cache.clouds.learnt {
            guard let body = try? JSONEncoder().encode(cloud) else { continue }
            let key = RecordKey(group: "", kind: .cloud, key: cloud.preferredCache)
            changes.append(.put(StoredRecord(key: key, body: Array(body))))
        }
        try? await write(changes)
    }
}

extension TokenParameters {
    /// The claims request with the client capabilities in it, as `access_token.xms_cc.values`; nil when there is neither.
    var mergedClaims: String? {
        guard !capabilities.isEmpty else { return claims }
        return ClaimsRequestJSON(claims ?? "").adding(capabilities: capabilities) ?? claims
    }
}

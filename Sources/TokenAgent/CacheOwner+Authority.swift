internal import Foundation
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

extension CacheOwner {
    /// The authority under the name that its cloud wants requests at; asks instance discovery once for a host nobody knows.
    ///
    /// - Throws: `authorityValidation` (-51600) for a host that is no authority, unless the app vouches for it.
    func resolve(_ authority: Authority, _ parameters: TokenParameters) async throws(TokenError) -> Authority {
        if authority.kind == .entra, !cache.clouds.knows(authority.environment) {
            do throws(TokenError) {
                let clouds = try await endpoint.discoverClouds(
                    of: authority, correlationID: parameters.correlationID)
                try await learn(clouds, from: authority.environment)
            } catch {
                // An app that vouches for its authority, or runs it on this machine, needs nobody's word for it.
                guard !parameters.validatesAuthority || authority.isLoopback else { throw error }
            }
        }
        return authority.withEnvironment(cache.clouds.cloud(of: authority.environment).preferredNetwork)
    }

    /// The request that trades a grant at a resolved authority. Its refresh token goes nowhere but to the authority's own cloud.
    func tokenRequest(_ grant: Grant, at authority: Authority, _ parameters: TokenParameters) -> TokenRequest {
        let cloud = cache.clouds.cloud(of: authority.environment)
        let isMicrosoft = authority.kind == .entra
        return TokenRequest(
            grant: grant, clientID: parameters.clientID, authority: authority, version: parameters.version,
            scopes: parameters.scopes, claims: parameters.mergedClaims, redirectURI: parameters.redirectURI,
            extraParameters: parameters.extraParameters, correlationID: parameters.correlationID,
            allowedEnvironments: isMicrosoft ? Set(cloud.aliases + [authority.environment]) : nil)
    }

    /// Remembers learnt clouds, so that the next start needs no network for a cached token.
    private func learn(_ clouds: [CloudDirectory.Cloud], from environment: String) async throws(TokenError) {
        guard cache.clouds.learn(clouds, from: environment) else { return }
        var changes: [StoreChange] = []
        for cloud in cache.clouds.learnt {
            guard let body = try? JSONEncoder().encode(cloud) else { continue }
            let key = RecordKey(group: "", kind: .cloud, key: cloud.preferredCache)
            changes.append(.put(StoredRecord(key: key, body: Array(body))))
        }
        try await write(changes)
    }
}

extension CredentialCache {
    /// Takes in the clouds that the store remembers.
    mutating func loadClouds(_ records: [StoredRecord]) {
        for record in records where record.key.kind == .cloud {
            guard let cloud = try? JSONDecoder().decode(CloudDirectory.Cloud.self, from: Data(record.body)) else {
                continue
            }
            _ = clouds.learn([cloud], from: cloud.preferredCache)
        }
    }
}

extension TokenParameters {
    /// The claims request with the client capabilities in it, as `access_token.xms_cc.values`; nil when there is neither.
    var mergedClaims: String? {
        guard !capabilities.isEmpty else { return claims }
        let asked = claims.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any]
        var merged = asked ?? [:]
        var accessToken = merged["access_token"] as? [String: Any] ?? [:]
        accessToken["xms_cc"] = ["values": capabilities]
        merged["access_token"] = accessToken
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? JSONSerialization.data(withJSONObject: merged, options: options) else { return claims }
        return String(decoding: json, as: UTF8.self)
    }
}

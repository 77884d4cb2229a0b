internal import Foundation

/// Writes and signs what an order asks for, as the chosen kind of service would.
struct TokenMint: Sendable {
    let key: SigningKey
    let directory: Directory
    let baseURL: String
    let authority: RequestedAuthority
    let version: ProtocolVersion
    let settings: EmulatorSettings

    /// The `iss` of tokens for this tenant.
    func issuer(tenantID: String) -> String {
        switch (authority.kind, version) {
        case (.adfs, _): "\(baseURL)/adfs"
        case (.openID, _): "\(baseURL)/\(authority.path)"
        case (.b2c, _): "\(baseURL)/\(tenantID)/v2.0/"
        case (_, .v1): "\(baseURL)/\(tenantID)/"
        case (_, .v2): "\(baseURL)/\(tenantID)/v2.0"
        }
    }

    func accessToken(_ order: TokenOrder) throws -> String {
        let granted = ScopeRules.granted(order.scopes, declined: settings.declinedScopes)
        let resource = ScopeRules.resources(of: granted, of: order.clientID).first ?? ScopeRules.graph
        var claims = commonClaims(order)
        claims["aud"] = .string(version == .v1 ? order.resource ?? TokenReply.defaultResource : resource)
        claims["scp"] = .string(
            version == .v1 ? "user_impersonation" : ScopeRules.permissions(granted).joined(separator: " "))
        claims[version == .v1 ? "appid" : "azp"] = .string(order.clientID)
        claims["uti"] = .string(order.tokenID)
        return try key.sign(JSON.object(claims).withoutNulls)
    }

    func idToken(_ order: TokenOrder) throws -> String {
        var claims = commonClaims(order)
        claims["aud"] = .string(order.clientID)
        claims["nonce"] = JSON(order.nonce)
        return try key.sign(JSON.object(claims).withoutNulls)
    }

    private func commonClaims(_ order: TokenOrder) -> [String: JSON] {
        let issuedAt = Int(order.issuedAt.timeIntervalSince1970)
        let claims: [String: JSON] = [
            "iss": .string(issuer(tenantID: order.tenantID)),
            "sub": .string(
                directory.subject(
                    of: order.user.username, clientID: order.clientID, tenantID: order.tenantID)),
            "iat": .number(issuedAt),
            "nbf": .number(issuedAt),
            "exp": .number(issuedAt + settings.accessTokenLifetime),
        ]
        return claims.merging(userClaims(order)) { _, last in last }
    }

    private func userClaims(_ order: TokenOrder) -> [String: JSON] {
        let username = JSON.string(order.user.username)
        let name = JSON.string(order.user.name)
        if authority.kind == .adfs { return ["upn": username, "unique_name": username] }
        if authority.kind == .openID { return openIDClaims(order) }
        var claims: [String: JSON] = [
            "oid": .string(directory.objectID(of: order.user.username, in: order.tenantID)),
            "tid": .string(order.tenantID), "name": name,
            "ver": version == .v1 || authority.kind == .b2c ? "1.0" : "2.0",
        ]
        switch (authority.kind, version) {
        case (.b2c, _):
            claims["emails"] = [username]
            claims["tfp"] = JSON(authority.policy)
            claims["sub"] = claims["oid"]
            claims["tid"] = .null
        case (_, .v2):
            claims["preferred_username"] = username
        case (_, .v1):
            claims["unique_name"] = username
            // Users of another tenant have no principal name in this one.
            let isMember = order.tenantID == order.user.homeTenantID && !order.user.isPersonal
            claims[isMember ? "upn" : "email"] = username
        }
        return claims
    }

    /// What OpenID Connect Core 1.0 section 5.1 knows. One subject for every app.
    private func openIDClaims(_ order: TokenOrder) -> [String: JSON] {
        [
            "sub": .string(directory.guid("subject", authority.realm, order.user.username.lowercased())),
            "name": .string(order.user.name), "preferred_username": .string(order.user.username),
            "email": .string(order.user.username),
        ]
    }
}

internal import Foundation

/// Encodes and signs access tokens and ID tokens, with the claims of the service that is emulated.
struct TokenMint: Sendable {
    let key: SigningKey
    let directory: Directory
    let baseURL: String
    let authority: RequestedAuthority
    let version: ProtocolVersion
    let settings: EmulatorSettings

    /// The `iss` of ID tokens for this tenant.
    func issuer(tenantID: String) -> String {
        switch (authority.kind, version) {
        case (.adfs, _): "\(baseURL)/adfs"
        case (.openID, _): "\(baseURL)/\(authority.path)"
        case (.b2c, _): "\(baseURL)/\(tenantID)/v2.0/"
        case (_, .v1): "\(baseURL)/\(tenantID)/"
        case (_, .v2): "\(baseURL)/\(tenantID)/v2.0"
        }
    }

    /// The `iss` of access tokens for this tenant. AD FS names its federation service there, by an `http` URL.
    func accessTokenIssuer(_ tenantID: String) -> String {
        guard authority.kind == .adfs, let start = baseURL.range(of: "://")?.upperBound else {
            return issuer(tenantID: tenantID)
        }
        return "http://\(baseURL[start...])/adfs/services/trust"
    }

    func accessToken(_ descriptor: TokenDescriptor) throws -> String {
        let granted = ScopeRules.granted(descriptor.scopes, declined: settings.declinedScopes)
        let resource = ScopeRules.resources(of: granted, of: descriptor.clientID).first ?? ScopeRules.graph
        var claims = commonClaims(descriptor)
        claims["exp"] = .number(expiry(descriptor, after: lifetime(of: descriptor)))
        claims["xms_cc"] = Self.list(descriptor.claims.capabilities)
        claims["acrs"] = Self.list(descriptor.claims.contexts)
        claims["iss"] = .string(accessTokenIssuer(descriptor.tenantID))
        claims["aud"] = .string(version == .v1 ? descriptor.resource ?? TokenReply.defaultResource : resource)
        claims["scp"] = .string(
            version == .v1 ? "user_impersonation" : ScopeRules.permissions(granted).joined(separator: " "))
        claims[version == .v1 ? "appid" : "azp"] = .string(descriptor.clientID)
        claims["uti"] = .string(descriptor.tokenID)
        return try key.sign(JSON.object(claims).withoutNulls)
    }

    /// The lifetime of an access token, in seconds.
    func lifetime(of descriptor: TokenDescriptor) -> Int {
        descriptor.claims.isCapable ? settings.capableTokenLifetime : settings.accessTokenLifetime
    }

    /// The time at which a token expires, in seconds since 1970; the largest number if the lifetime is longer.
    func expiry(_ descriptor: TokenDescriptor, after lifetime: Int) -> Int {
        let (seconds, isTooLarge) = descriptor.issuedAtSeconds.addingReportingOverflow(lifetime)
        return isTooLarge ? .max : seconds
    }

    private static func list(_ texts: [String]) -> JSON { texts.isEmpty ? .null : JSON(texts) }

    func idToken(_ descriptor: TokenDescriptor) throws -> String {
        var claims = commonClaims(descriptor)
        if isEntraV2, !descriptor.scopes.contains("profile") {
            for name in ["name", "oid", "preferred_username"] { claims[name] = nil }
        }
        claims["aud"] = .string(descriptor.clientID)
        claims["nonce"] = JSON(descriptor.nonce)
        claims["auth_time"] = descriptor.authenticatedOn.map { JSON.number(Int($0.timeIntervalSince1970)) }
        return try key.sign(JSON.object(claims).merging(settings.idTokenClaims).withoutNulls)
    }

    /// Whether the claims about the user depend on the scopes that the app asked for.
    private var isEntraV2: Bool { version == .v2 && [.entra, .ciam].contains(authority.kind) }

    private func commonClaims(_ descriptor: TokenDescriptor) -> [String: JSON] {
        let claims: [String: JSON] = [
            "iss": .string(issuer(tenantID: descriptor.tenantID)),
            "sub": .string(
                directory.subject(
                    of: descriptor.user.username, clientID: descriptor.clientID, tenantID: descriptor.tenantID)),
            "iat": .number(descriptor.issuedAtSeconds),
            "nbf": .number(descriptor.issuedAtSeconds),
            "exp": .number(expiry(descriptor, after: settings.accessTokenLifetime)),
        ]
        return claims.merging(userClaims(descriptor)) { _, last in last }
    }

    private func userClaims(_ descriptor: TokenDescriptor) -> [String: JSON] {
        let username = JSON.string(descriptor.user.username)
        let name = JSON.string(descriptor.user.name)
        if authority.kind == .adfs { return ["upn": username, "unique_name": username] }
        if authority.kind == .openID { return openIDClaims(descriptor) }
        var claims: [String: JSON] = [
            "oid": .string(directory.objectID(of: descriptor.user.username, in: descriptor.tenantID)),
            "tid": .string(descriptor.tenantID), "name": name,
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
            if descriptor.scopes.contains("email") { claims["email"] = username }
        case (_, .v1):
            claims["unique_name"] = username
            // Guests have no user principal name in the tenant.
            let isMember = descriptor.tenantID == descriptor.user.homeTenantID && !descriptor.user.isPersonal
            claims[isMember ? "upn" : "email"] = username
        }
        return claims
    }

    /// The standard claims (OpenID Connect Core section 5.1), with one subject for all apps.
    private func openIDClaims(_ descriptor: TokenDescriptor) -> [String: JSON] {
        [
            "sub": .string(directory.guid("subject", authority.realm, descriptor.user.username.lowercased())),
            "name": .string(descriptor.user.name), "preferred_username": .string(descriptor.user.username),
            "email": .string(descriptor.user.username),
        ]
    }
}

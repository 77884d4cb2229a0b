internal import Foundation

/// The body of a successful answer of the token endpoint.
struct TokenReply {
    /// What v1 gives a token for when no resource is named: the old directory service.
    static let defaultResource = "00000002-0000-0000-c000-000000000000"

    let mint: TokenMint
    let order: TokenOrder
    let wantsClientInfo: Bool
    /// The cloud that the user is at home in, where the app can be sent there.
    var cloudName: String?

    func json() throws -> JSON {
        var fields = try tokens()
        fields["token_type"] = "Bearer"
        fields["refresh_token"] = JSON(order.refreshToken)
        fields["cloud_instance_name"] = JSON(cloudName)
        if !isADFS, mint.authority.kind != .openID {
            fields["foci"] = JSON(order.familyID)
            fields["client_info"] = wantsClientInfo && mint.settings.sendsClientInfo ? .string(clientInfo) : .null
        }
        fields.merge(mint.version == .v1 && !isADFS ? legacyFields : fieldsWithNumbers) { $1 }
        return JSON.object(fields).merging(mint.settings.tokenReply).withoutNulls
    }

    private var isADFS: Bool { mint.authority.kind == .adfs }

    /// An AD FS that knows neither OpenID Connect nor refresh tokens for every resource.
    private var isOldADFS: Bool { isADFS && mint.settings.adfs.level == .windows2012R2 }

    /// The accounts of B2C and External ID are at home where they sign in; B2C makes each user flow an account of its own.
    private var clientInfo: String {
        guard mint.authority.kind != .entra else { return order.user.clientInfo }
        let objectID = mint.directory.objectID(of: order.user.username, in: order.tenantID)
        let policy = mint.authority.policy.map { "-" + $0.lowercased() } ?? ""
        return User.clientInfo(uid: objectID + policy, utid: order.tenantID)
    }

    private func tokens() throws -> [String: JSON] {
        let wantsIDToken = !isOldADFS && (mint.version == .v1 || isADFS || order.scopes.contains("openid"))
        // B2C has no resource to fall back on.
        let wantsAccessToken = mint.authority.kind != .b2c || !ScopeRules.resources(of: order.scopes).isEmpty
        return [
            "access_token": wantsAccessToken ? .string(try mint.accessToken(order)) : .null,
            "id_token": wantsIDToken ? .string(try mint.idToken(order)) : .null,
        ]
    }

    private var fieldsWithNumbers: [String: JSON] {
        let granted = ScopeRules.granted(order.scopes, declined: mint.settings.declinedScopes)
        var fields: [String: JSON] = [
            "expires_in": .number(mint.settings.accessTokenLifetime),
            "scope": granted.isEmpty || isOldADFS ? .null : .string(granted.joined(separator: " ")),
        ]
        if isOldADFS { return fields }
        if isADFS {
            fields["resource"] = JSON(order.resource)
        } else {
            fields["ext_expires_in"] = .number(mint.settings.extendedLifetime)
            fields["refresh_in"] = mint.settings.refreshIn.map(JSON.number) ?? .null
        }
        return fields
    }

    /// v1 writes its numbers as text.
    private var legacyFields: [String: JSON] {
        let issuedAt = Int(order.issuedAt.timeIntervalSince1970)
        return [
            "expires_in": "\(mint.settings.accessTokenLifetime)",
            "ext_expires_in": "\(mint.settings.extendedLifetime)",
            "refresh_in": JSON(mint.settings.refreshIn.map(String.init)),
            "expires_on": "\(issuedAt + mint.settings.accessTokenLifetime)",
            "not_before": "\(issuedAt)",
            "resource": .string(order.resource ?? Self.defaultResource),
            "scope": "user_impersonation",
        ]
    }
}

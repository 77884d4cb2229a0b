internal import Foundation

/// The body of a successful answer of the token endpoint.
struct TokenReply {
    /// What v1 gives a token for when no resource is named: the old directory service.
    static let defaultResource = "00000002-0000-0000-c000-000000000000"

    let mint: TokenMint
    let order: TokenOrder
    let wantsClientInfo: Bool

    func json() async throws -> JSON {
        var fields = try await tokens()
        fields["token_type"] = "Bearer"
        fields["refresh_token"] = JSON(order.refreshToken)
        if mint.authority.kind != .adfs {
            fields["foci"] = JSON(order.familyID)
            fields["client_info"] =
                wantsClientInfo ? .string(order.user.clientInfo(policy: mint.authority.policy)) : .null
        }
        fields.merge(mint.version == .v1 && !isADFS ? legacyFields : fieldsWithNumbers) { $1 }
        return JSON.object(fields).merging(mint.settings.tokenReply).withoutNulls
    }

    private var isADFS: Bool { mint.authority.kind == .adfs }

    private func tokens() async throws -> [String: JSON] {
        let wantsIDToken = mint.version == .v1 || isADFS || order.scopes.contains("openid")
        return [
            "access_token": .string(try await mint.accessToken(order)),
            "id_token": wantsIDToken ? .string(try await mint.idToken(order)) : .null,
        ]
    }

    private var fieldsWithNumbers: [String: JSON] {
        let granted = ScopeRules.granted(order.scopes, declined: mint.settings.declinedScopes)
        var fields: [String: JSON] = [
            "expires_in": .number(mint.settings.accessTokenLifetime),
            "scope": granted.isEmpty ? .null : .string(granted.joined(separator: " ")),
        ]
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

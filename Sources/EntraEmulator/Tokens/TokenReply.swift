/// The body of a successful reply of the token endpoint.
struct TokenReply {
    /// The resource of a v1 request that names none: Azure AD Graph.
    static let defaultResource = "00000002-0000-0000-c000-000000000000"

    let mint: TokenMint
    let descriptor: TokenDescriptor
    let wantsClientInfo: Bool
    /// The host of the user's home cloud, for an instance-aware app in another cloud.
    var cloudName: String?

    func json() throws -> JSON {
        var fields = try tokens()
        fields["token_type"] = "Bearer"
        fields["refresh_token"] = JSON(descriptor.refreshToken)
        fields["cloud_instance_name"] = JSON(cloudName)
        if !isADFS, mint.authority.kind != .openID {
            fields["foci"] = JSON(descriptor.familyID)
            fields["client_info"] = wantsClientInfo && mint.settings.sendsClientInfo ? .string(clientInfo) : .null
        }
        fields.merge(mint.version == .v1 && !isADFS ? legacyFields : fieldsWithNumbers) { $1 }
        return JSON.object(fields).merging(mint.settings.tokenReply).withoutNulls
    }

    private var isADFS: Bool { mint.authority.kind == .adfs }

    /// Whether the reply is that of Windows Server 2012 R2: without OpenID Connect.
    private var isOldADFS: Bool { isADFS && mint.settings.adfs.level == .windows2012R2 }

    /// `client_info`. For B2C and External ID the tenant of the sign-in is the home tenant; in B2C each user flow is a separate
    /// account.
    private var clientInfo: String {
        guard mint.authority.kind != .entra else { return descriptor.user.clientInfo }
        let objectID = mint.directory.objectID(of: descriptor.user.username, in: descriptor.tenantID)
        let policy = mint.authority.policy.map { "-" + $0.lowercased() } ?? ""
        return User.clientInfo(uid: objectID + policy, utid: descriptor.tenantID)
    }

    private func tokens() throws -> [String: JSON] {
        let wantsIDToken = !isOldADFS && (mint.version == .v1 || isADFS || descriptor.scopes.contains("openid"))
        // B2C has no default resource.
        let wantsAccessToken = mint.authority.kind != .b2c || !ScopeRules.resources(of: descriptor.scopes).isEmpty
        return [
            "access_token": wantsAccessToken ? .string(try mint.accessToken(descriptor)) : .null,
            "id_token": wantsIDToken ? .string(try mint.idToken(descriptor)) : .null,
        ]
    }

    private var lifetime: Int { mint.lifetime(of: descriptor) }

    private var extendedLifetime: Int {
        descriptor.claims.isCapable ? max(lifetime, mint.settings.extendedLifetime) : mint.settings.extendedLifetime
    }

    private var refreshIn: Int? { mint.settings.refreshIn ?? (descriptor.claims.isCapable ? lifetime / 2 : nil) }

    private var fieldsWithNumbers: [String: JSON] {
        var granted = ScopeRules.granted(descriptor.scopes, declined: mint.settings.declinedScopes)
        // An AD FS names the scopes that are registered with it.
        if isADFS { granted.removeAll { $0.lowercased().hasSuffix(".default") } }
        var fields: [String: JSON] = [
            "expires_in": .number(lifetime),
            "scope": granted.isEmpty || isOldADFS ? .null : .string(granted.joined(separator: " ")),
        ]
        if isOldADFS { return fields }
        if isADFS {
            fields["resource"] = JSON(descriptor.resource)
        } else {
            fields["ext_expires_in"] = .number(extendedLifetime)
            fields["refresh_in"] = refreshIn.map(JSON.number) ?? .null
        }
        return fields
    }

    /// The fields of a v1 reply, whose numbers are strings.
    private var legacyFields: [String: JSON] {
        [
            "expires_in": "\(lifetime)",
            "ext_expires_in": "\(extendedLifetime)",
            "refresh_in": JSON(refreshIn.map { String($0) }),
            "expires_on": "\(mint.expiry(descriptor, after: lifetime))",
            "not_before": "\(descriptor.issuedAtSeconds)",
            "resource": .string(descriptor.resource ?? Self.defaultResource),
            "scope": "user_impersonation",
        ]
    }
}

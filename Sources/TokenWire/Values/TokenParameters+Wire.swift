internal import CTokenProtos
internal import TokenModel

extension TokenParameters {
    init(_ pointer: UnsafeMutablePointer<Sso__TokenParameters>?) throws(TokenError) {
        let message = try WireFields.needed("parameters", pointer).pointee
        let clientID = try WireFields.text("client_id", message.has_client_id, message.client_id)
        let group = try WireFields.text("sharing_group", message.has_sharing_group, message.sharing_group)
        let correlation = try WireFields.text(
            "correlation_id", message.has_correlation_id, message.correlation_id)
        self.init(
            clientID: try WireFields.needed("client_id", clientID.flatMap(ClientID.init)),
            sharingGroup: try SharingGroup(wire: group),
            authority: try Authority(message.authority) ?? .common,
            version: WireFields.choice(message.has_version, message.version.rawValue) ?? .v2,
            scopes: ScopeSet(try WireFields.texts("scopes", message.n_scopes, message.scopes)),
            redirectURI: try WireFields.text("redirect_uri", message.has_redirect_uri, message.redirect_uri),
            claims: try WireFields.text(
                "claims", message.has_claims, message.claims, limit: WireLimits.longText),
            capabilities: try WireFields.texts("capabilities", message.n_capabilities, message.capabilities),
            extraParameters: try WireFields.pairs(
                "extra_parameters", message.n_extra_parameters, message.extra_parameters),
            validatesAuthority: WireFields.flag(
                message.has_validates_authority, message.validates_authority, default: true),
            correlationID: correlation.flatMap { CorrelationID($0) } ?? CorrelationID())
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__TokenParameters>? {
        guard let message = arena.message(sso__token_parameters__init) else { return nil }
        arena.put(clientID.text, &message.pointee.has_client_id, &message.pointee.client_id)
        arena.put(sharingGroup.name, &message.pointee.has_sharing_group, &message.pointee.sharing_group)
        message.pointee.authority = authority.encode(arena)
        arena.put(version.wire, &message.pointee.has_version, &message.pointee.version)
        arena.put(scopes.scopes, &message.pointee.n_scopes, &message.pointee.scopes)
        arena.put(redirectURI, &message.pointee.has_redirect_uri, &message.pointee.redirect_uri)
        arena.put(claims, &message.pointee.has_claims, &message.pointee.claims)
        arena.put(capabilities, &message.pointee.n_capabilities, &message.pointee.capabilities)
        arena.put(extraParameters, &message.pointee.n_extra_parameters, &message.pointee.extra_parameters)
        if !validatesAuthority {
            arena.put(false, &message.pointee.has_validates_authority, &message.pointee.validates_authority)
        }
        arena.put(correlationID.description, &message.pointee.has_correlation_id, &message.pointee.correlation_id)
        return message
    }
}

extension SharingGroup {
    /// Absent is the standard group; blank is refused.
    init(wire name: String?) throws(TokenError) {
        guard let name else {
            self = .standard
            return
        }
        self = try WireFields.needed("sharing_group", SharingGroup(name))
    }
}

extension OAuthVersion {
    var wire: Sso__OAuthVersion { Sso__OAuthVersion(rawValue: numericCast(rawValue)) }
}

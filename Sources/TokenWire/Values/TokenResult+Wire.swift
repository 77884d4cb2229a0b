internal import CTokenProtos
internal import TokenModel

extension TokenResult {
    init(_ pointer: UnsafeMutablePointer<Sso__TokenResult>?) throws(TokenError) {
        let message = try WireFields.needed("token result", pointer).pointee
        let accessToken = try WireFields.secret("access_token", message.has_access_token, message.access_token)
        let correlation = try WireFields.text("correlation_id", message.has_correlation_id, message.correlation_id)
        let familyID = try WireFields.text("family_id", message.has_family_id, message.family_id)
        var profile: TenantProfile?
        if let pointer = message.tenant_profile { profile = try TenantProfile(pointer) }
        self.init(
            accessToken: try WireFields.needed("access_token", accessToken),
            tokenType: try WireFields.text("token_type", message.has_token_type, message.token_type) ?? "Bearer",
            expiresOn: WireFields.number(message.has_expires_on, message.expires_on) ?? 0,
            extendedExpiresOn: WireFields.number(message.has_extended_expires_on, message.extended_expires_on),
            scopes: try WireFields.texts("scopes", message.n_scopes, message.scopes),
            idToken: try WireFields.text(
                "id_token", message.has_id_token, message.id_token, limit: WireLimits.token),
            account: try Account(try WireFields.needed("account", message.account)),
            tenantProfile: profile,
            authority: try WireFields.text("authority", message.has_authority, message.authority) ?? "",
            correlationID: correlation.flatMap { CorrelationID($0) } ?? CorrelationID(),
            isFromCache: WireFields.flag(message.has_is_from_cache, message.is_from_cache, default: false),
            isExtendedLifetime: WireFields.flag(
                message.has_is_extended_lifetime, message.is_extended_lifetime, default: false),
            familyID: familyID.flatMap(FamilyID.init),
            hasMultiResourceRefreshToken: WireFields.flag(
                message.has_has_multi_resource_refresh_token, message.has_multi_resource_refresh_token,
                default: false))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__TokenResult>? {
        guard let message = arena.message(sso__token_result__init) else { return nil }
        arena.put(accessToken, &message.pointee.has_access_token, &message.pointee.access_token)
        arena.put(tokenType, &message.pointee.has_token_type, &message.pointee.token_type)
        arena.put(expiresOn, &message.pointee.has_expires_on, &message.pointee.expires_on)
        arena.put(
            extendedExpiresOn, &message.pointee.has_extended_expires_on, &message.pointee.extended_expires_on)
        arena.put(scopes, &message.pointee.n_scopes, &message.pointee.scopes)
        arena.put(idToken, &message.pointee.has_id_token, &message.pointee.id_token)
        message.pointee.account = account.encode(arena)
        message.pointee.tenant_profile = tenantProfile?.encode(arena)
        arena.put(authority, &message.pointee.has_authority, &message.pointee.authority)
        arena.put(correlationID.description, &message.pointee.has_correlation_id, &message.pointee.correlation_id)
        arena.put(isFromCache, &message.pointee.has_is_from_cache, &message.pointee.is_from_cache)
        arena.put(
            isExtendedLifetime, &message.pointee.has_is_extended_lifetime, &message.pointee.is_extended_lifetime)
        arena.put(familyID?.text, &message.pointee.has_family_id, &message.pointee.family_id)
        arena.put(
            hasMultiResourceRefreshToken, &message.pointee.has_has_multi_resource_refresh_token,
            &message.pointee.has_multi_resource_refresh_token)
        return message
    }
}

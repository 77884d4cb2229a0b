internal import CTokenProtos
internal import TokenModel

extension Credential {
    init(_ pointer: UnsafeMutablePointer<Sso__Credential>) throws(TokenError) {
        let message = pointer.pointee
        let clientID = try WireFields.text("client_id", message.has_client_id, message.client_id)
        self.init(
            id: try WireFields.needed("id", try WireFields.text("id", message.has_id, message.id)),
            kind: try WireFields.needed("kind", WireFields.choice(message.has_kind, message.kind.rawValue)),
            clientID: try WireFields.needed("client_id", clientID.flatMap(ClientID.init)),
            familyID: try WireFields.text("family_id", message.has_family_id, message.family_id)
                .flatMap(FamilyID.init),
            authority: try WireFields.text("authority", message.has_authority, message.authority) ?? "",
            version: WireFields.choice(message.has_version, message.version.rawValue),
            scopes: ScopeSet(try WireFields.texts("scopes", message.n_scopes, message.scopes)),
            accessToken: try WireFields.secret("access_token", message.has_access_token, message.access_token),
            tokenType: try WireFields.text("token_type", message.has_token_type, message.token_type),
            expiresOn: WireFields.number(message.has_expires_on, message.expires_on),
            extendedExpiresOn: WireFields.number(message.has_extended_expires_on, message.extended_expires_on),
            idToken: try WireFields.text(
                "id_token", message.has_id_token, message.id_token, limit: WireLimits.token),
            account: try AccountReference(message.account))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Credential>? {
        guard let message = arena.message(sso__credential__init) else { return nil }
        arena.put(id, &message.pointee.has_id, &message.pointee.id)
        arena.put(
            Sso__CredentialKind(rawValue: numericCast(kind.rawValue)), &message.pointee.has_kind,
            &message.pointee.kind)
        arena.put(clientID.text, &message.pointee.has_client_id, &message.pointee.client_id)
        arena.put(familyID?.text, &message.pointee.has_family_id, &message.pointee.family_id)
        arena.put(authority, &message.pointee.has_authority, &message.pointee.authority)
        if let version { arena.put(version.wire, &message.pointee.has_version, &message.pointee.version) }
        arena.put(scopes.scopes, &message.pointee.n_scopes, &message.pointee.scopes)
        if let accessToken {
            arena.put(accessToken, &message.pointee.has_access_token, &message.pointee.access_token)
        }
        arena.put(tokenType, &message.pointee.has_token_type, &message.pointee.token_type)
        arena.put(expiresOn, &message.pointee.has_expires_on, &message.pointee.expires_on)
        arena.put(
            extendedExpiresOn, &message.pointee.has_extended_expires_on, &message.pointee.extended_expires_on)
        arena.put(idToken, &message.pointee.has_id_token, &message.pointee.id_token)
        message.pointee.account = account.encode(arena)
        return message
    }
}

internal import CTokenProtos
internal import TokenModel

extension BeginInteractive {
    init(_ pointer: UnsafeMutablePointer<Sso__BeginInteractive>?) throws(TokenError) {
        let message = try WireFields.needed("begin_interactive", pointer).pointee
        self.init(
            parameters: try TokenParameters(message.parameters),
            account: try AccountReference(message.account),
            prompt: try WireFields.text("prompt", message.has_prompt, message.prompt),
            loginHint: try WireFields.text("login_hint", message.has_login_hint, message.login_hint),
            domainHint: try WireFields.text("domain_hint", message.has_domain_hint, message.domain_hint),
            extraScopes: ScopeSet(try WireFields.texts("extra_scopes", message.n_extra_scopes, message.extra_scopes)))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__BeginInteractive>? {
        guard let message = arena.message(sso__begin_interactive__init) else { return nil }
        message.pointee.parameters = parameters.encode(arena)
        message.pointee.account = account.encode(arena)
        arena.put(prompt, &message.pointee.has_prompt, &message.pointee.prompt)
        arena.put(loginHint, &message.pointee.has_login_hint, &message.pointee.login_hint)
        arena.put(domainHint, &message.pointee.has_domain_hint, &message.pointee.domain_hint)
        arena.put(extraScopes.scopes, &message.pointee.n_extra_scopes, &message.pointee.extra_scopes)
        return message
    }
}

extension BeginInteractive.Reply {
    init(_ pointer: UnsafeMutablePointer<Sso__BeginInteractiveReply>?) throws(TokenError) {
        let message = try WireFields.needed("begin_interactive", pointer).pointee
        self.init(
            sessionID: try WireFields.needed(
                "session_id", WireFields.text("session_id", message.has_session_id, message.session_id)),
            authorizationURL: try WireFields.text(
                "authorization_url", message.has_authorization_url, message.authorization_url,
                limit: WireLimits.longText) ?? "",
            redirectURI: try WireFields.text("redirect_uri", message.has_redirect_uri, message.redirect_uri) ?? "",
            expiresIn: WireFields.number(message.has_expires_in, message.expires_in) ?? 0)
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__BeginInteractiveReply>? {
        guard let message = arena.message(sso__begin_interactive_reply__init) else { return nil }
        arena.put(sessionID, &message.pointee.has_session_id, &message.pointee.session_id)
        arena.put(authorizationURL, &message.pointee.has_authorization_url, &message.pointee.authorization_url)
        arena.put(redirectURI, &message.pointee.has_redirect_uri, &message.pointee.redirect_uri)
        arena.put(expiresIn, &message.pointee.has_expires_in, &message.pointee.expires_in)
        return message
    }
}

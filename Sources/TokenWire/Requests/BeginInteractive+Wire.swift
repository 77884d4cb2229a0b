internal import CTokenProtos
package import TokenModel

extension BeginInteractive: WireRequest {
    package static let type = WireType(sso__begin_interactive__init)

    package init(_ value: BeginInteractive?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            account: try fields.account(value?.account),
            prompt: try fields.text("prompt", value?.prompt),
            loginHint: try fields.text("login_hint", value?.loginHint),
            domainHint: try fields.text("domain_hint", value?.domainHint),
            extraScopes: ScopeSet(try fields.texts("extra_scopes", value?.extraScopes.scopes)))
    }
}

extension BeginInteractive.Reply: WireMessage {
    package static let type = WireType(sso__begin_interactive_reply__init)

    package init(_ value: BeginInteractive.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID),
            authorizationURL: try fields.text(
                "authorization_url", value?.authorizationURL, limit: WireLimits.longText) ?? "",
            redirectURI: try fields.text("redirect_uri", value?.redirectURI) ?? "",
            expiresIn: fields.number("expires_in", value?.expiresIn) ?? 0)
    }
}

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
            extraScopes: try fields.scopes("extra_scopes", value?.extraScopes))
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
            expiresIn: fields.lifetime("expires_in", value?.expiresIn),
            launchURL: try fields.text("launch_url", value?.launchURL))
    }
}

extension CompleteInteractive: WireRequest {
    package static let type = WireType(sso__complete_interactive__init)

    package init(_ value: CompleteInteractive?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID),
            responseURL: try fields.text("response_url", value?.responseURL, limit: WireLimits.longText))
    }
}

extension CancelInteraction: WireRequest {
    package static let type = WireType(sso__cancel_interaction__init)

    package init(_ value: CancelInteraction?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID))
    }
}

extension CancelInteraction.Reply: WireMessage {
    package static let type = WireType(sso__cancel_interaction_reply__init)

    package init(_ value: CancelInteraction.Reply?, _ fields: inout WireFields) throws(TokenError) { self.init() }
}

extension BeginDeviceCode: WireRequest {
    package static let type = WireType(sso__begin_device_code__init)

    package init(_ value: BeginDeviceCode?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            parameters: try fields.required("parameters", value?.parameters),
            account: try fields.account(value?.account))
    }
}

extension BeginDeviceCode.Reply: WireMessage {
    package static let type = WireType(sso__begin_device_code_reply__init)

    package init(_ value: BeginDeviceCode.Reply?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID),
            userCode: try fields.text("user_code", value?.userCode) ?? "",
            verificationURL: try fields.text("verification_url", value?.verificationURL) ?? "",
            message: try fields.text("message", value?.message) ?? "",
            expiresIn: fields.lifetime("expires_in", value?.expiresIn))
    }
}

extension CompleteDeviceCode: WireRequest {
    package static let type = WireType(sso__complete_device_code__init)

    package init(_ value: CompleteDeviceCode?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            sessionID: try fields.required("session_id", value?.sessionID))
    }
}

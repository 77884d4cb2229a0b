internal import CTokenProtos
package import TokenModel

extension TokenParameters: WireMessage {
    package static let type = WireType(sso__token_parameters__init)

    package init(_ value: TokenParameters?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.required("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            authority: try fields.message("authority", value?.authority) ?? .common,
            version: try fields.choice("version", value?.version) ?? .v2,
            scopes: try fields.scopes("scopes", value?.scopes),
            redirectURI: try fields.text("redirect_uri", value?.redirectURI),
            claims: try fields.text("claims", value?.claims, limit: WireLimits.longText),
            capabilities: try fields.texts("capabilities", value?.capabilities),
            extraParameters: try fields.pairs("extra_parameters", value?.extraParameters),
            // Written only if it is not the default.
            validatesAuthority: fields.flag(
                "validates_authority", value?.validatesAuthority == true ? nil : value?.validatesAuthority) ?? true,
            correlationID: try fields.text("correlation_id", value?.correlationID) ?? CorrelationID())
    }
}

extension Authority: WireMessage {
    package static let type = WireType(sso__authority__init)

    package init(_ value: Authority?, _ fields: inout WireFields) throws(TokenError) {
        let url = try WireFields.required("authority", fields.text("url", value?.url))
        let kind = try fields.choice("kind", value?.kind)
        if let value { self = value } else { try self.init(url, kind: kind) }
    }
}

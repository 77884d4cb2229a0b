internal import CTokenProtos
package import TokenModel

extension TokenParameters: WireMessage {
    package static let type = WireType(sso__token_parameters__init)

    package init(_ value: TokenParameters?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            clientID: try fields.required("client_id", value?.clientID),
            sharingGroup: try fields.sharingGroup(value?.sharingGroup),
            authority: try fields.message("authority", value?.authority) ?? .common,
            version: fields.choice("version", value?.version) ?? .v2,
            scopes: try fields.scopes(value?.scopes),
            redirectURI: try fields.text("redirect_uri", value?.redirectURI),
            claims: try fields.text("claims", value?.claims, limit: WireLimits.longText),
            capabilities: try fields.texts("capabilities", value?.capabilities),
            extraParameters: try fields.pairs("extra_parameters", value?.extraParameters),
            // Written only where it says something.
            validatesAuthority: fields.flag(
                "validates_authority", value?.validatesAuthority == true ? nil : value?.validatesAuthority) ?? true,
            correlationID: try fields.text("correlation_id", value?.correlationID) ?? CorrelationID())
    }
}

extension WireFields {
    fileprivate mutating func scopes(_ value: ScopeSet?) throws(TokenError) -> ScopeSet {
        let scopes = try texts("scopes", value?.scopes)
        return value ?? ScopeSet(scopes)
    }
}

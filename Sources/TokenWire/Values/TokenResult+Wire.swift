internal import CTokenProtos
package import TokenModel

extension TokenResult: WireMessage {
    package static let type = WireType(sso__token_result__init)

    package init(_ value: TokenResult?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            accessToken: try WireFields.required("access_token", fields.secret("access_token", value?.accessToken)),
            tokenType: try fields.text("token_type", value?.tokenType) ?? "Bearer",
            expiresOn: fields.number("expires_on", value?.expiresOn) ?? 0,
            extendedExpiresOn: fields.number("extended_expires_on", value?.extendedExpiresOn),
            scopes: try fields.texts("scopes", value?.scopes),
            idToken: try fields.text("id_token", value?.idToken, limit: WireLimits.token),
            account: try fields.required("account", value?.account),
            tenantProfile: try fields.message("tenant_profile", value?.tenantProfile),
            authority: try fields.text("authority", value?.authority) ?? "",
            correlationID: try fields.text("correlation_id", value?.correlationID) ?? CorrelationID(),
            isFromCache: fields.flag("is_from_cache", value?.isFromCache) ?? false,
            isExtendedLifetime: fields.flag("is_extended_lifetime", value?.isExtendedLifetime) ?? false,
            familyID: try fields.text("family_id", value?.familyID),
            hasMultiResourceRefreshToken: fields.flag(
                "has_multi_resource_refresh_token", value?.hasMultiResourceRefreshToken) ?? false)
    }
}

internal import CTokenProtos
package import TokenModel

extension TokenResult: WireMessage {
    package static let type = WireType(sso__token_result__init)

    package init(_ value: TokenResult?, _ fields: inout WireFields) throws(TokenError) {
        let repeats = value?.repeatedIDTokens
        var (account, profile) = (value?.account, value?.tenantProfile)
        if repeats?.inAccount == true { account?.homeIDToken = nil }
        if repeats?.inProfile == true { profile?.idToken = nil }
        self.init(
            accessToken: try WireFields.required("access_token", fields.secret("access_token", value?.accessToken)),
            tokenType: try fields.text("token_type", value?.tokenType) ?? "Bearer",
            expiresOn: fields.number("expires_on", value?.expiresOn) ?? 0,
            extendedExpiresOn: fields.number("extended_expires_on", value?.extendedExpiresOn),
            scopes: try fields.texts("scopes", value?.scopes),
            idToken: try fields.text("id_token", value?.idToken, limit: WireLimits.token),
            account: try fields.required("account", account),
            tenantProfile: try fields.message("tenant_profile", profile),
            authority: try fields.text("authority", value?.authority) ?? "",
            correlationID: try fields.text("correlation_id", value?.correlationID) ?? CorrelationID(),
            isFromCache: fields.flag("is_from_cache", value?.isFromCache) ?? false,
            isExtendedLifetime: fields.flag("is_extended_lifetime", value?.isExtendedLifetime) ?? false,
            familyID: try fields.text("family_id", value?.familyID),
            hasMultiResourceRefreshToken: fields.flag(
                "has_multi_resource_refresh_token", value?.hasMultiResourceRefreshToken) ?? false)
        let from = fields.number("fresh_from", value?.freshness?.lowerBound)
        let through = fields.number("fresh_through", value?.freshness?.upperBound)
        if let from, let through, from <= through { freshness = from...through }
        hasChangedCache = fields.wish("has_changed_cache", value?.hasChangedCache)
        let idToken = idToken
        if fields.wish("account_has_id_token", repeats?.inAccount) { self.account.homeIDToken = idToken }
        if fields.wish("profile_has_id_token", repeats?.inProfile) { tenantProfile?.idToken = idToken }
    }

    /// The places in which a message omits an ID token that equals `idToken`.
    private var repeatedIDTokens: (inAccount: Bool, inProfile: Bool) {
        guard allowsSingleIDToken, let idToken else { return (false, false) }
        return (account.homeIDToken == idToken, tenantProfile?.idToken == idToken)
    }
}

extension TokenError: WireMessage {
    package static let type = WireType(sso__failure__init)

    package init(_ value: TokenError?, _ fields: inout WireFields) throws(TokenError) {
        self.init(
            Code(number: fields.number("code", value?.code.number) ?? Code.internalError.number),
            try fields.wording("message", value?.message, limit: WireLimits.longText) ?? "",
            details: try Details(value?.details, &fields))
    }
}

extension TokenError.Details {
    /// Long texts and lists are truncated when they are written: a failure has to fit into a frame, whatever a server has sent.
    fileprivate init(_ value: TokenError.Details?, _ fields: inout WireFields) throws(TokenError) {
        self.init()
        oauthError = try fields.wording("oauth_error", value?.oauthError)
        subError = try fields.wording("sub_error", value?.subError)
        errorDescription = try fields.wording("error_description", value?.errorDescription, limit: WireLimits.longText)
        stsErrorCodes = try fields.numbers(
            "sts_error_codes", value.map { Array($0.stsErrorCodes.prefix(WireLimits.listItems)) })
        httpStatus = fields.number("http_status", value?.httpStatus)
        httpHeaders = try fields.pairs("http_headers", value?.shortHeaders)
        networkErrorCode = fields.number("network_error_code", value?.networkErrorCode)
        correlationID = try fields.text("correlation_id", value?.correlationID)
        grantedScopes = try fields.wordings("granted_scopes", value?.grantedScopes)
        declinedScopes = try fields.wordings("declined_scopes", value?.declinedScopes)
        homeAccountID = try fields.text("home_account_id", value?.homeAccountID)
        username = try fields.wording("username", value?.username)
        isThrottled = fields.flag("is_throttled", value?.isThrottled) ?? false
        partialResult = try fields.message("partial_result", value?.partialResult)
        throttledUntil = fields.number("throttled_until", value?.throttledUntil)
        reason = try fields.choice("reason", value?.reason)
        nextCommand = try fields.wording("next_command", value?.nextCommand)
        hasChangedCache = fields.wish("has_changed_cache", value?.hasChangedCache)
    }

    /// The headers that are within the limits of messages.
    private var shortHeaders: [String: String] {
        let fitting = httpHeaders.filter {
            $0.key.utf8.count <= WireLimits.text && $0.value.utf8.count <= WireLimits.longText
                && !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0)
                && !CombiningCharacters.areExcessive(in: $0.key) && !CombiningCharacters.areExcessive(in: $0.value)
        }
        guard fitting.count > WireLimits.listItems else { return fitting }
        let first = fitting.sorted { $0.key < $1.key }.prefix(WireLimits.listItems)
        return Dictionary(uniqueKeysWithValues: first.map { $0 })
    }
}

internal import CTokenProtos
internal import TokenModel

extension TokenError {
    /// The error that a `Failure` stands for.
    init(_ pointer: UnsafeMutablePointer<Sso__Failure>?) throws(TokenError) {
        let message = try WireFields.needed("failure", pointer).pointee
        self.init(
            Code(number: WireFields.number(message.has_code, message.code) ?? Code.internalError.number),
            try WireFields.text("message", message.has_message, message.message, limit: WireLimits.longText) ?? "",
            details: try Details(message))
    }

    func encode(_ arena: WireArena) -> UnsafeMutablePointer<Sso__Failure>? {
        guard let failure = arena.message(sso__failure__init) else { return nil }
        arena.put(code.number, &failure.pointee.has_code, &failure.pointee.code)
        arena.put(cut: message, to: WireLimits.longText, &failure.pointee.has_message, &failure.pointee.message)
        details.encode(into: failure, arena)
        return failure
    }
}

extension TokenError.Details {
    fileprivate init(_ message: Sso__Failure) throws(TokenError) {
        self.init()
        oauthError = try WireFields.text("oauth_error", message.has_oauth_error, message.oauth_error)
        subError = try WireFields.text("sub_error", message.has_sub_error, message.sub_error)
        errorDescription = try WireFields.text(
            "error_description", message.has_error_description, message.error_description, limit: WireLimits.longText)
        stsErrorCodes = try WireFields.numbers(
            "sts_error_codes", message.n_sts_error_codes, message.sts_error_codes)
        httpStatus = WireFields.number(message.has_http_status, message.http_status)
        httpHeaders = try WireFields.pairs("http_headers", message.n_http_headers, message.http_headers)
        networkErrorCode = WireFields.number(message.has_network_error_code, message.network_error_code)
        correlationID = try WireFields.text("correlation_id", message.has_correlation_id, message.correlation_id)
            .flatMap { CorrelationID($0) }
        grantedScopes = try WireFields.texts("granted_scopes", message.n_granted_scopes, message.granted_scopes)
        declinedScopes = try WireFields.texts("declined_scopes", message.n_declined_scopes, message.declined_scopes)
        homeAccountID = try WireFields.text("home_account_id", message.has_home_account_id, message.home_account_id)
            .flatMap(HomeAccountID.init)
        username = try WireFields.text("username", message.has_username, message.username)
        isThrottled = WireFields.flag(message.has_is_throttled, message.is_throttled, default: false)
        if let result = message.partial_result { partialResult = try TokenResult(result) }
    }

    /// What is too long is cut: a failure has to arrive, whatever a server said.
    fileprivate func encode(into failure: UnsafeMutablePointer<Sso__Failure>, _ arena: WireArena) {
        arena.put(cut: oauthError, &failure.pointee.has_oauth_error, &failure.pointee.oauth_error)
        arena.put(cut: subError, &failure.pointee.has_sub_error, &failure.pointee.sub_error)
        arena.put(
            cut: errorDescription, to: WireLimits.longText, &failure.pointee.has_error_description,
            &failure.pointee.error_description)
        let codes = stsErrorCodes.prefix(WireLimits.listItems)
        failure.pointee.sts_error_codes = arena.array(of: Int32.self, count: codes.count)
        if let array = failure.pointee.sts_error_codes {
            for (index, code) in codes.enumerated() { array[index] = code }
            failure.pointee.n_sts_error_codes = codes.count
        }
        arena.put(httpStatus, &failure.pointee.has_http_status, &failure.pointee.http_status)
        arena.put(shortHeaders, &failure.pointee.n_http_headers, &failure.pointee.http_headers)
        arena.put(networkErrorCode, &failure.pointee.has_network_error_code, &failure.pointee.network_error_code)
        arena.put(correlationID?.description, &failure.pointee.has_correlation_id, &failure.pointee.correlation_id)
        arena.put(cut: grantedScopes, &failure.pointee.n_granted_scopes, &failure.pointee.granted_scopes)
        arena.put(cut: declinedScopes, &failure.pointee.n_declined_scopes, &failure.pointee.declined_scopes)
        arena.put(homeAccountID?.text, &failure.pointee.has_home_account_id, &failure.pointee.home_account_id)
        arena.put(cut: username, &failure.pointee.has_username, &failure.pointee.username)
        arena.put(isThrottled, &failure.pointee.has_is_throttled, &failure.pointee.is_throttled)
        failure.pointee.partial_result = partialResult?.encode(arena)
    }

    private var shortHeaders: [String: String] {
        let fitting = httpHeaders.filter {
            $0.key.utf8.count <= WireLimits.text && $0.value.utf8.count <= WireLimits.longText
                && !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0)
        }
        return fitting.count <= WireLimits.listItems
            ? fitting
            : Dictionary(
                uniqueKeysWithValues: fitting.sorted { $0.key < $1.key }.prefix(WireLimits.listItems).map { $0 })
    }
}

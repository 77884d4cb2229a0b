package import TokenModel

extension TokenEndpointClient {
    /// Starts a sign-in on another device (RFC 8628); redeem `Grant.deviceCode` until the answer is no longer
    /// `serverOAuth` with `authorization_pending` or `slow_down`.
    ///
    /// - Throws: `unsupportedFunctionality` when the authority has no such endpoint.
    package func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant {
        try await withCorrelationID(request.correlationID) { () async throws(TokenError) in
            let form = try request.form()
            let endpoints = try await endpoints(
                of: request.authority, version: request.version, correlationID: request.correlationID)
            guard let url = endpoints.deviceCode else {
                throw TokenError(.unsupportedFunctionality, "\(request.authority) offers no device code sign-in")
            }
            return try DeviceCodeGrant(
                await transport.send(HTTPRequest(url: url, form: form, correlationID: request.correlationID)))
        }
    }
}

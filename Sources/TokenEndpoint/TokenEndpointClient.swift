internal import Synchronization
package import TokenModel

/// Requests to identity providers: token requests, device codes, and discovery (OAuth 2.0 over HTTPS). It knows no accounts
/// and keeps no tokens.
///
/// Every method may be called from any task, and throws `networkUnavailable` (-53009) if the authority cannot be reached,
/// `cancelled` (-53007) if the task is cancelled, and `invalidDeveloperParameter` (-51112) for an `http` authority that is
/// not allowed. A request and its retry end within 30 seconds. `close` must be called before the last reference is
/// released.
package final class TokenEndpointClient: Sendable {
    let transport: HTTPTransport
    private let loopbackHTTP: Atomic<Bool>
    private let now: @Sendable () -> Int64
    let discovered = Mutex<[DiscoveryKey: Endpoints]>([:])

    /// The largest number of connections to other hosts than those of Microsoft's clouds.
    package static var otherConnections: Int { HTTPTransport.connections }

    /// - Parameters:
    ///   - allowsLoopbackHTTP: whether authorities on this machine may use `http`, as those of emulators do.
    ///   - now: the clock, in seconds since 1970.
    package init(
        network: NetworkSettings, allowsLoopbackHTTP: Bool, timing: HTTPTiming = HTTPTiming(),
        now: @escaping @Sendable () -> Int64
    ) {
        self.transport = HTTPTransport(network: network, timing: timing)
        self.loopbackHTTP = Atomic(allowsLoopbackHTTP)
        self.now = now
    }

    /// Whether authorities on this machine may use `http`. A reload of the configuration can change it.
    package var allowsLoopbackHTTP: Bool {
        get { loopbackHTTP.load(ordering: .relaxed) }
        set { loopbackHTTP.store(newValue, ordering: .relaxed) }
    }

    /// Redeems a grant for tokens (RFC 6749 sections 4.1.3 and 6, RFC 8628 section 3.4).
    ///
    /// The grant is not sent again once it may have reached the token endpoint, whatever the response. If the response is not
    /// valid, or the token endpoint is gone or not among `allowedEndpoints`, the discovery document is read again for the next request: the
    /// provider may have changed the issuer that it named, or moved the endpoint.
    ///
    /// - Parameter delivery: records whether the grant may have reached the token endpoint, and the tokens of a response that is not valid or
    ///   was cut or did not end in time.
    /// - Throws: `interactionRequired` (-51115), without sending the request, if the token endpoint is not among
    ///   `allowedEndpoints`, or if an OpenID provider refuses a refresh token without a reason; the code of the OAuth error;
    ///   `unhandledHTTPResponse` (-51500) for a status other than 200, 400 and 401, unless it is the 403 or 428 with which an OpenID
    ///   provider refuses a grant; `serverInvalidResponse` (-51401) if the response is not valid.
    package func redeem(
        _ request: TokenRequest, _ delivery: DeliveryTracker? = nil
    ) async throws(TokenError) -> IssuedTokens {
        try await withCorrelationID(request.correlationID) { () async throws(TokenError) in
            let endpoints = try await endpoints(
                of: request.authority, version: request.version, correlationID: request.correlationID)
            let form = try request.form(reservedScopes: endpoints.reservedScopes)
            let (now, delivery) = (now, delivery ?? DeliveryTracker())
            let (begin, limit) = (now(), transport.timeLimit)
            do throws(TokenError) {
                let endpoint = try request.requireAllowedEndpoint(endpoints.token)
                return try await transport.send(
                    HTTPRequest(
                        url: endpoints.token, form: form, correlationID: request.correlationID, delivery: delivery)
                ) { (response) throws(TokenError) in
                    let end = now()
                    // The time limit does not count the time for which the machine sleeps, with the response in its memory.
                    let age = end - begin > limit ? end - begin : 0
                    var tokens = try IssuedTokens(
                        response, to: request, issuer: endpoints.issuer?.identifier, now: end, age: age, delivery)
                    tokens.endpoint = endpoint
                    return tokens
                } readIncomplete: { part in
                    IssuedTokens.recordRefused(part, to: request, now: now(), delivery)
                }
            } catch {
                if error.suggestsChange(of: endpoints) {
                    forget(endpoints, of: DiscoveryKey(authority: request.authority, version: request.version))
                }
                throw error
            }
        }
    }

    /// Sends nothing more: requests in progress and later ones fail with `cancelled`, but for grants that may have been sent. The response to
    /// one of these arrives within its 30 seconds, or never.
    package func stopSending() { transport.stopSending() }

    /// Closes all connections. Requests in progress and later ones fail with `cancelled`.
    package func close() async {
        await transport.close()
    }

    /// Runs `body`, and adds the correlation ID to its error.
    func withCorrelationID<Value>(
        _ correlationID: CorrelationID?, _ body: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        do {
            return try await body()
        } catch {
            throw error.answering(correlationID)
        }
    }

    /// Refuses an `http` authority, unless it is on this machine and the agent allows that.
    func requireAllowed(_ authority: Authority) throws(TokenError) {
        guard authority.scheme != "https" else { return }
        guard allowsLoopbackHTTP, authority.isLoopback else { throw .withoutTLS(authority) }
    }
}

extension TokenError {
    /// The error of requests to an `http` authority that the agent does not allow.
    package static func withoutTLS(_ authority: Authority) -> TokenError {
        TokenError(
            .invalidDeveloperParameter,
            "\(authority) is not https; for an emulator on this machine, write allow_loopback_http = true under [network] in the "
                + "configuration", .then("ssoctl reload"))
    }

    /// Whether the provider may have changed its endpoints, or its issuer, since they were read.
    fileprivate func suggestsChange(of endpoints: Endpoints) -> Bool {
        switch code {
        case .serverInvalidResponse: endpoints.issuer != nil
        case .unhandledHTTPResponse: [404, 405, 410].contains(details.httpStatus)
        case .networkUnavailable: details.networkErrorCode == NetworkErrorCode.hostNotFound
        // The document names a token endpoint that did not issue the grant.
        case .interactionRequired: details.reason == .authority
        default: false
        }
    }
}

extension TokenEndpointClient {
    /// Starts a sign-in on another device (RFC 8628). The caller redeems `Grant.deviceCode` as long as the error is
    /// `serverOAuth` with `authorization_pending` or `slow_down`.
    ///
    /// - Throws: `unsupportedFunctionality` (-51114) if the authority has no such endpoint.
    package func beginDeviceCode(_ request: DeviceCodeRequest) async throws(TokenError) -> DeviceCodeGrant {
        try await withCorrelationID(request.correlationID) { () async throws(TokenError) in
            let endpoints = try await currentEndpoints(
                of: request.authority, version: request.version, correlationID: request.correlationID)
            let form = try request.form(reservedScopes: endpoints.reservedScopes)
            guard let url = endpoints.deviceCode else {
                throw TokenError(.unsupportedFunctionality, "\(request.authority) offers no device code sign-in")
            }
            return try await transport.send(
                HTTPRequest(url: url, form: form, correlationID: request.correlationID)
            ) { (response) throws(TokenError) in
                try DeviceCodeGrant(response, of: request.authority, in: request.cloudHosts)
            }
        }
    }
}

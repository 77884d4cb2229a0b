internal import Synchronization
package import TokenModel

/// OAuth 2.0 over HTTPS: redeem, discover, device code. One per agent; it knows no accounts and keeps no tokens.
///
/// Every method may be called from any task. All of them throw `networkUnavailable` when the authority cannot be
/// reached, `cancelled` when the task was, and `invalidDeveloperParameter` for an `http` authority that is not allowed.
/// One call, its one repetition included, ends within 30 seconds. Call `close` before the last reference goes.
package final class TokenEndpointClient: Sendable {
    let transport: HTTPTransport
    let allowsLoopbackHTTP: Bool
    let discovered = Mutex<[DiscoveryKey: Endpoints]>([:])

    /// - Parameter allowsLoopbackHTTP: whether authorities on this machine may do without TLS.
    package init(network: NetworkSettings, allowsLoopbackHTTP: Bool, timing: HTTPTiming = HTTPTiming()) {
        self.transport = HTTPTransport(network: network, timing: timing)
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
    }

    /// Trades a grant for tokens (RFC 6749 sections 4.1.3 and 6, RFC 8628 section 3.4).
    ///
    /// - Parameter delivery: says afterwards whether the grant may have been used up.
    /// - Throws: `interactionRequired`, with nothing sent, when the token endpoint's host is not among
    ///   `allowedEnvironments`; the OAuth error's own code when the issuer refuses; `unhandledHTTPResponse` for a
    ///   status other than 200, 400 and 401; `serverInvalidResponse` when the answer makes no sense.
    package func redeem(
        _ request: TokenRequest, _ delivery: DeliveryTracker? = nil
    ) async throws(TokenError) -> IssuedTokens {
        try await withCorrelationID(request.correlationID) { () async throws(TokenError) in
            let form = try request.form()
            let url = try await endpoints(
                of: request.authority, version: request.version, correlationID: request.correlationID
            ).token
            try request.requireAllowedEnvironment(of: url)
            let response = try await transport.send(
                HTTPRequest(url: url, form: form, correlationID: request.correlationID, delivery: delivery))
            return try IssuedTokens(response, to: request)
        }
    }

    /// Closes all connections; requests under way fail, later ones too.
    package func close() async {
        await transport.close()
    }

    /// Lets `body` run and writes the operation it belongs to into its error.
    func concerning<Value>(
        _ correlationID: CorrelationID?, _ body: () async throws(TokenError) -> Value
    ) async throws(TokenError) -> Value {
        do {
            return try await body()
        } catch {
            var error = error
            error.details.correlationID = error.details.correlationID ?? correlationID
            throw error
        }
    }

    /// Refuses plain HTTP, unless it stays on this machine and the agent was started to allow that.
    func requireAllowed(_ authority: Authority) throws(TokenError) {
        guard authority.scheme != "https" else { return }
        guard allowsLoopbackHTTP, authority.isLoopback else {
            throw TokenError(
                .invalidDeveloperParameter,
                "authority \(authority) does without TLS; start the agent with --allow-loopback-http to allow that")
        }
    }
}

internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// Sign-in with a code that the user enters on another device (RFC 8628).
extension SignInSessions {
    /// Begins a sign-in: gets a device code and the user code to show.
    func begin(_ request: BeginDeviceCode, as id: String) async throws(TokenError) -> BeginDeviceCode.Reply {
        let parameters = request.parameters
        let authority = try await authorities.resolve(
            parameters.authority, parameters, username: parameters.extraParameters["login_hint"])
        let grant = try await service.beginDeviceCode(
            DeviceCodeRequest(
                clientID: parameters.clientID, authority: authority, version: parameters.version,
                scopes: parameters.scopes, claims: parameters.mergedClaims,
                extraParameters: parameters.extraParameters, correlationID: parameters.correlationID,
                cloudHosts: authorities.cloudHosts(of: authority)))
        try register(.deviceCode(request, grant), as: id, lifetime: grant.expiresIn)
        return BeginDeviceCode.Reply(
            sessionID: id, userCode: grant.userCode, verificationURL: grant.verificationURL,
            message: grant.message, expiresIn: grant.expiresIn)
    }

    /// Polls the token endpoint at the interval it asks for until the user has finished (RFC 8628 section 3.4), and saves the
    /// tokens.
    func complete(_ request: CompleteDeviceCode, for connection: ConnectionID) async throws(TokenError) -> TokenResult {
        let id = request.sessionID
        let session = try claim(id, for: connection) { !$0.isBrowser }
        guard case .deviceCode(let begun, let grant) = session.method else { throw Self.unknown }
        defer { finish(id) }
        let parameters = begun.parameters
        let authority = try await authorities.resolve(
            parameters.authority, parameters, username: parameters.extraParameters["login_hint"])
        let poll = authorities.tokenRequest(.deviceCode(grant.deviceCode), at: authority, parameters)
        var pause = PollingPause(interval: grant.interval)
        while true {
            await tasks.sleep(for: .seconds(pause.seconds), orUntil: session.ended.futureResult)
            if let ending = ending(of: id) { throw ending }
            do throws(TokenError) {
                let response = try await service.redeem(poll, nil)
                let result = try await saver.save(response, from: .signIn, parameters, at: parameters.authority)
                try check(result, against: begun.account, parameters)
                return result
            } catch {
                try pause.update(after: error, at: now())
            }
        }
    }
}

/// The pause before the next poll for a device code (RFC 8628 section 3.5).
private struct PollingPause {
    /// The interval at which the provider wants to be asked, in seconds.
    private var interval: Int64
    /// The pause, in seconds: the interval, or longer after a poll without a response.
    private(set) var seconds: Int64

    init(interval: Int64) { (self.interval, seconds) = (interval, interval) }

    /// - Parameter now: the present time, in seconds since 1970.
    /// - Throws: the error that ends the sign-in.
    mutating func update(after error: TokenError, at now: Int64) throws(TokenError) {
        let asked = min(error.retryAfter(now: now) ?? 0, Self.longest)
        switch error.details.oauthError {
        case "authorization_pending": seconds = interval
        case "slow_down": slowDown(atLeast: asked)
        case "expired_token", "code_expired": throw SignInSession.Method.expiredDeviceCode
        // RFC 6585 section 4. Some providers say so instead of `slow_down`.
        case _ where error.details.httpStatus == 429: slowDown(atLeast: asked)
        default:
            // A temporary outage does not end the sign-in, whose code is still valid. Its polls become rarer, until it is over.
            guard error.isOutage else { throw error }
            seconds = max(seconds + 5, asked)
        }
    }

    /// Lengthens this pause and all later ones.
    private mutating func slowDown(atLeast asked: Int64) {
        interval += 5
        seconds = max(interval, asked)
    }

    /// No code is valid for longer.
    private static let longest: Int64 = 3600
}

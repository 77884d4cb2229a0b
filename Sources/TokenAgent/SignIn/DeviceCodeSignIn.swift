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
        var interval = grant.interval
        while true {
            await tasks.sleep(for: .seconds(interval), orUntil: session.ended.futureResult)
            if let ending = ending(of: id) { throw ending }
            do throws(TokenError) {
                let response = try await service.redeem(poll, nil)
                let result = try await saver.save(response, from: .signIn, parameters, at: parameters.authority)
                try check(result, against: begun.account)
                return result
            } catch {
                interval = try error.nextDeviceCodeInterval(after: interval)
            }
        }
    }
}

extension TokenError {
    /// The interval until the next poll, in seconds (RFC 8628 section 3.5).
    ///
    /// - Throws: the error that ends the sign-in.
    fileprivate func nextDeviceCodeInterval(after interval: Int64) throws(TokenError) -> Int64 {
        switch details.oauthError {
        case "authorization_pending": return interval
        case "slow_down": return interval + 5
        case "expired_token", "code_expired": throw SignInSession.Method.expiredDeviceCode
        default:
            // Neither a temporary outage nor too many requests (RFC 6585 section 4) end the sign-in, whose code is still valid.
            guard isOutage || details.httpStatus == 429 else { throw self }
            return interval + 5
        }
    }
}

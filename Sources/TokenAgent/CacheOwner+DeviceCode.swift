internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Gets a code for the person to type on another device.
    func beginDeviceCode(_ request: BeginDeviceCode) -> Answer<BeginDeviceCode.Reply> {
        if let refusal = refusal(of: request.parameters) ?? refusalOfMore { return .now(.failure(refusal)) }
        return .later(
            later { owner async throws(TokenError) in
                let parameters = request.parameters
                let authority = try await owner.resolve(
                    parameters.authority, parameters, username: parameters.extraParameters["login_hint"])
                let grant = try await owner.endpoint.beginDeviceCode(
                    DeviceCodeRequest(
                        clientID: parameters.clientID, authority: authority, version: parameters.version,
                        scopes: parameters.scopes, claims: parameters.mergedClaims,
                        extraParameters: parameters.extraParameters, correlationID: parameters.correlationID))
                let id = owner.remember(
                    .deviceCode(request, grant), for: grant.expiresIn)
                return BeginDeviceCode.Reply(
                    sessionID: id, userCode: grant.userCode, verificationURL: grant.verificationURL,
                    message: grant.message, expiresIn: grant.expiresIn)
            })
    }

    /// Asks the token endpoint, at the pace it wishes, until the person has finished (RFC 8628 section 3.4).
    func completeDeviceCode(_ request: CompleteDeviceCode) -> Answer<TokenResult> {
        guard let interaction = interactions[request.sessionID],
            case .deviceCode(let begun, let grant) = interaction.way
        else { return .now(.failure(Interaction.unknown)) }
        guard !interaction.isAwaited else { return .now(.failure(Interaction.awaited)) }
        interactions[request.sessionID]?.isAwaited = true
        return .later(
            later { owner async throws(TokenError) in
                defer { owner.forget(request.sessionID) }
                let parameters = begun.parameters
                let authority = try await owner.resolve(
                    parameters.authority, parameters, username: parameters.extraParameters["login_hint"])
                let poll = owner.tokenRequest(.deviceCode(grant.deviceCode), at: authority, parameters)
                var interval = grant.interval
                while true {
                    await owner.pause(request.sessionID, seconds: interval)
                    guard let interaction = owner.interactions[request.sessionID] else { throw Interaction.unknown }
                    if let ending = interaction.ending { throw ending }
                    do throws(TokenError) {
                        let response = try await owner.endpoint.redeem(poll)
                        let result = try await owner.save(
                            response, from: .signIn, parameters, at: parameters.authority)
                        try owner.checkAccount(result, against: begun.account)
                        return result
                    } catch {
                        interval = try error.nextDeviceCodeInterval(after: interval)
                    }
                }
            })
    }

    /// Waits on the event loop, which has other work meanwhile; returns at once when the sign-in ends.
    private func pause(_ id: String, seconds: Int64) async {
        guard let interaction = interactions[id], interaction.ending == nil else { return }
        let pause = loop.makePromise(of: Void.self)
        interactions[id]?.pause = pause
        let timer = after(.seconds(seconds)) { _ in pause.succeed() }
        defer { timer.cancel() }
        _ = try? await pause.futureResult.get()
    }
}

extension TokenError {
    /// How long to wait before asking again, in seconds; throws what ends the wait (RFC 8628 section 3.5).
    fileprivate func nextDeviceCodeInterval(after interval: Int64) throws(TokenError) -> Int64 {
        switch details.oauthError {
        case "authorization_pending": return interval
        case "slow_down": return interval + 5
        case "expired_token", "code_expired": throw Interaction.expired
        default:
            // An outage of a moment does not end a sign-in that somebody is in the middle of.
            guard isOutage else { throw self }
            return interval + 5
        }
    }
}

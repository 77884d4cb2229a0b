internal import AccessPolicy
internal import NIOCore
internal import TokenModel
internal import TokenWire

/// The peer of a connection. The access policy in effect decides for each request whether the peer may send it.
struct ConnectedPeer: Sendable {
    let identity: PeerIdentity
    let confirmer: Confirmer
    let denials: DenialLog
    let log: RequestLog
    /// The audit log; nil if there is none.
    let audit: AuditTrail?
    /// The handlers of the published socket of the connection; nil for the agent's own socket.
    var published: PublishedHandlers?
    /// The connection, with which questions about its requests end.
    let connection = Confirmer.Connection()
    /// Whether the peer may have the generation page, and so keep results: it shows when something changes for other apps.
    var sharesGenerations = false

    /// The published socket of the connection; nil for the agent's own socket.
    var publication: Publication? { published?.publication }

    /// Whether the peer may know of its own apps' accounts only; see `AgentRequest.confined`.
    var isConfined: Bool { publication != nil || identity.sandbox != nil }

    /// Whether a request may be answered.
    enum Admission {
        case allowed
        case refused(TokenError)
        /// A person is asked. The future's failure is `requestDenied` (-53011).
        case confirming(EventLoopFuture<Result<Void, TokenError>>)
    }

    /// The handler of a request number.
    ///
    /// - Throws: `unsupportedProtocolVersion` (-53003) if the agent does not know the request, `requestDenied` (-53011) if the published
    ///   socket does not serve it.
    func handler(of number: UInt32) throws(TokenError) -> RequestHandler {
        guard let handler = RequestHandlers.handler(of: number) else { throw Self.unknown }
        guard let published else { return handler }
        if let handler = published.handler(of: number) { return handler }
        let request = PolicyRequest(
            name: RequestFrame.name(of: number), subject: RequestSubject(isLimitedToApp: false))
        let error = TokenError(.requestDenied, "\(TokenError.ruleOfPublishedSockets) (\(request.name))")
        denials.add(request, error, from: identity)
        audit?.refused(request, error.code, from: identity, by: publication)
        throw error
    }

    private static let helperEnded =
        "the agent's helper process has ended, so that nothing is known of processes that connect; restart sso-agent"

    private static let unknown = TokenError(
        .unsupportedProtocolVersion,
        "this agent, version \(ProductVersion.text), does not know that request; update it, and restart it")

    /// Decides about a request by the policy in effect, which may require a confirmation by a person.
    ///
    /// At a published socket, the rules of the configuration can only refuse; the socket's own rules decide what is
    /// served.
    /// - Parameter message: what the request says, which is checked before a person is asked.
    func admission(
        of request: PolicyRequest, _ message: some AgentRequest, by policy: PeerPolicy, on loop: any EventLoop
    ) -> Admission {
        switch decision(on: request, by: policy) {
        case .allow: return .allowed
        case .deny(let reason): return .refused(refusal(of: request, reason))
        case .confirm:
            do throws(TokenError) { try message.validate() } catch { return .refused(error) }
            let (denials, identity) = (denials, identity)
            return .confirming(
                confirmer.ask(request, from: identity, of: connection, on: loop).map { outcome in
                    if case .failure(let error) = outcome { denials.add(request, error, from: identity) }
                    return outcome
                })
        }
    }

    /// The refusal of a request that was allowed, or that a person has confirmed, by rules that have changed meanwhile.
    func refusalOfAdmitted(_ request: PolicyRequest, by policy: PeerPolicy) -> TokenError? {
        guard case .deny(let reason) = decision(on: request, by: policy) else { return nil }
        return refusal(of: request, reason)
    }

    private func decision(on request: PolicyRequest, by policy: PeerPolicy) -> PeerPolicy.Decision {
        guard publication != nil else { return policy.decision(on: request, from: identity) }
        return policy.refusal(ofPublished: request, from: identity).map { .deny($0) } ?? .allow
    }

    private func refusal(of request: PolicyRequest, _ reason: String) -> TokenError {
        let isUnknown = publication == nil && identity.sandbox != nil && confirmer.helperHasEnded
        let error = TokenError(.requestDenied, isUnknown ? Self.helperEnded : reason)
        denials.add(request, error, from: identity)
        return error
    }
}

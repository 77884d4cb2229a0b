internal import AccessPolicy
internal import NIOCore
internal import TokenModel

/// The peer of a connection, and what it may do.
struct Caller: Sendable {
    let identity: PeerIdentity
    let policy: PeerPolicy
    let confirmer: Confirmer
    let denials: DenialLog
    let log: RequestLog
    /// Nil if there is no audit log.
    let audit: AuditTrail?

    /// Whether a request may be answered.
    enum Admission {
        case allowed
        case refused(TokenError)
        /// A person is asked. The future's failure is `requestDenied` (-53011).
        case confirming(EventLoopFuture<Result<Void, TokenError>>)
    }

    /// Decides about a request by the policy, or has a person decide.
    func admission(of request: PolicyRequest, on loop: any EventLoop) -> Admission {
        switch policy.decision(on: request, from: identity) {
        case .allow: return .allowed
        case .deny(let reason):
            let error = TokenError(.requestDenied, reason)
            denials.add(request, error, from: identity)
            return .refused(error)
        case .confirm:
            let (denials, identity) = (denials, identity)
            return .confirming(
                confirmer.ask(request, from: identity, on: loop).map { outcome in
                    if case .failure(let error) = outcome { denials.add(request, error, from: identity) }
                    return outcome
                })
        }
    }
}

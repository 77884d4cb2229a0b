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

    /// Decides about a request, and answers it unless it is refused. A request that a person has to confirm waits for that.
    ///
    /// - Parameter answer: answers the request; called on the event loop.
    func answer<Value: Sendable>(
        _ request: PolicyRequest, on loop: any EventLoop, _ answer: @escaping @Sendable () -> Answer<Value>
    ) -> Answer<Value> {
        switch policy.decision(on: request, from: identity) {
        case .allow: return answer()
        case .deny(let reason):
            let error = TokenError(.requestDenied, reason)
            denials.add(request, error, from: identity)
            return .now(.failure(error))
        case .confirm:
            return .later(
                confirmer.ask(request, from: identity, on: loop).flatMap { outcome in
                    if case .failure(let error) = outcome {
                        denials.add(request, error, from: identity)
                        return loop.makeSucceededFuture(.failure(error))
                    }
                    return answer().future(on: loop)
                })
        }
    }
}

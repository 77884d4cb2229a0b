/// A request of the protocol, and the type of its reply.
///
/// `WireRequest` in `TokenWire` encodes it, `AgentClient.call` sends it, and `RequestHandlers` in `TokenAgent` answers it.
/// PROTOCOL.md, "Messages".
package protocol AgentRequest: Sendable, Equatable {
    /// The successful reply.
    associatedtype Reply: Sendable, Equatable

    /// The field number in the messages `Request` and `Reply` of agent.proto.
    static var number: UInt32 { get }

    /// Whether the request is idempotent: it may be sent again if the agent ended before it replied.
    var isRepeatable: Bool { get }

    /// The parameters of the requested token; nil if the request is not for a token.
    var tokenParameters: TokenParameters? { get }

    /// What the request reaches, for the access policy.
    var subject: RequestSubject { get }

    /// What a person is asked to confirm, in words that follow "asks to"; nil if the name of the request says it.
    var purpose: String? { get }

    /// The request as that of a peer that may know of its own apps' accounts only: one in a sandbox, or at a published socket.
    var confined: Self { get }

    /// The request without its wish to know how long the result may be kept; nil if it has no such wish.
    var withoutFreshness: Self? { get }

    /// Checks what the request says, by itself: a person is not asked to confirm a request that has to fail. Its answer does the same check.
    func validate() throws(TokenError)
}

/// A request that names an app, and whose answer depends on whether its peer is confined.
package protocol ConfinableRequest: AgentRequest {
    /// Whether accounts of which the app has nothing do not exist for the request, and the app is in no family that the token endpoint has
    /// not named. Not sent: the agent sets it.
    var isConfined: Bool { get set }
}

extension ConfinableRequest {
    package var confined: Self {
        var request = self
        request.isConfined = true
        return request
    }
}

extension AgentRequest {
    package var isRepeatable: Bool { true }
    package var tokenParameters: TokenParameters? { nil }
    package var purpose: String? { nil }
    package var confined: Self { self }
    package var withoutFreshness: Self? { nil }
    package func validate() throws(TokenError) {}
}

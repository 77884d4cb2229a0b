/// A request of the protocol, with the reply that answers it.
///
/// Whatever has to know of a request knows it by this: how it travels (`WireRequest` in `TokenWire`), how an app sends it
/// (`AgentClient.call`), and what answers it (`RequestHandlers` in `TokenAgent`). PROTOCOL.md, "Requests".
package protocol AgentRequest: Sendable, Equatable {
    /// What the agent answers, if it does not fail.
    associatedtype Reply: Sendable, Equatable

    /// The number of its field in the messages `Request` and `Reply` of agent.proto.
    static var number: UInt32 { get }

    /// Whether it does no harm to send it again if the agent went away before it answered.
    var isRepeatable: Bool { get }

    /// Which token is asked for, if one is.
    var tokenParameters: TokenParameters? { get }
}

extension AgentRequest {
    package var isRepeatable: Bool { true }
    package var tokenParameters: TokenParameters? { nil }
}

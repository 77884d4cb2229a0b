internal import CProtobufC
package import TokenModel

/// A value that travels as a message of agent.proto.
package protocol WireMessage {
    static var type: WireType { get }

    /// Goes through the fields of a message, each named once: writes those of `value`, or reads them if there is no value.
    init(_ value: Self?, _ fields: inout WireFields) throws(TokenError)
}

/// A request that travels as a message, as its reply does.
///
/// A new one needs: its messages in agent.proto, its value in `TokenModel` with `AgentRequest`, its `WireMessage` here, a line in
/// `RequestHandlers` of the agent, a section in PROTOCOL.md and a sample in `WireSamples`. `RequestTests` names what is missing.
package protocol WireRequest: AgentRequest, WireMessage where Reply: WireMessage {}

/// protobuf-c's description of a message: its size, and the name, number, type and place of each field.
///
/// Unchecked because of the pointer: it leads to a constant of the generated code.
package struct WireType: @unchecked Sendable {
    let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

    /// - Parameter initialise: the message's `…__init`, which knows its descriptor.
    init<Message>(_ initialise: (UnsafeMutablePointer<Message>?) -> Void) {
        let message = UnsafeMutablePointer<Message>.allocate(capacity: 1)
        defer { message.deallocate() }
        initialise(message)
        descriptor = message.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { $0.pointee.descriptor }
    }
}

internal import CProtobufC
package import TokenModel

/// A value that is encoded as a message of agent.proto.
package protocol WireMessage {
    static var type: WireType { get }

    /// Writes the fields of `value` or, if it is nil, reads them. Each field is named once, for both directions.
    init(_ value: Self?, _ fields: inout WireFields) throws(TokenError)
}

/// A request that is encoded as a message, as its reply is.
///
/// A new request needs: its messages in agent.proto, its value in `TokenModel` with `AgentRequest`, its `WireMessage` here, a line in
/// `RequestHandlers` of the agent, a section in PROTOCOL.md and a sample in `WireSamples`. `RequestTests` names what is missing.
package protocol WireRequest: AgentRequest, WireMessage where Reply: WireMessage {}

/// A page of a list. Its field `next` says where the list goes on.
package protocol WirePage: WireMessage {}

/// What is read of a page before the page itself is.
struct PageEnd<Page: WirePage>: WireMessage {
    let next: String?

    static var type: WireType { Page.type }

    init(_ value: Self?, _ fields: inout WireFields) throws(TokenError) {
        next = try fields.text("next", value?.next)
    }
}

/// protobuf-c's descriptor of a message: its size, and the name, number, type and offset of each field.
///
/// Unchecked because of the pointer, which is the address of a constant of the generated code.
package struct WireType: @unchecked Sendable {
    let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

    /// - Parameter initialise: the message's `…__init`, which sets its descriptor.
    init<Message>(_ initialise: (UnsafeMutablePointer<Message>?) -> Void) {
        let message = UnsafeMutablePointer<Message>.allocate(capacity: 1)
        defer { message.deallocate() }
        initialise(message)
        descriptor = message.withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { $0.pointee.descriptor }
    }
}

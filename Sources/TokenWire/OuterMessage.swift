internal import CProtobufC
internal import CTokenProtos
internal import TokenModel

/// The outer message of a frame: a request or a reply, with its ID and a body of any type.
///
/// Unchecked because of the pointer: its memory belongs to the arena, and neither is changed after `init`.
struct OuterMessage<Message: COuterMessage>: @unchecked Sendable {
    /// The ID of the request, which its reply repeats; 0 if there is none.
    let id: UInt64
    /// The number of the body's field in agent.proto; 0 if there is no body, or one that this version does not know.
    let number: UInt32
    private let body: UnsafeMutableRawPointer?
    private let arena: WireArena

    /// Decodes the bytes of a frame, without its length; nil if they are malformed.
    init?(decoding bytes: some Collection<UInt8>) {
        // The texts take as much as their bytes, rounded up, and the structures about 1.5 KB.
        let estimate = 2 * 1024 + bytes.count + bytes.count / 4
        arena = WireArena(limit: WireLimits.memory(forFrameOf: bytes.count), estimate: estimate)
        let unpacked = arena.withAllocator { allocator in
            bytes.withContiguousStorageIfAvailable {
                protobuf_c_message_unpack(Message.type.descriptor, allocator, $0.count, $0.baseAddress)
            }
        }
        guard let unpacked = unpacked ?? nil else { return nil }
        let message = UnsafeRawPointer(unpacked).assumingMemoryBound(to: Message.self)
        id = message.pointee.request_id
        number = message.pointee.number
        body = message.pointee.body
    }

    /// Decodes the body; nil if the body has another number.
    func read<Body: WireMessage>(_ number: UInt32, as type: Body.Type) throws(TokenError) -> Body? {
        guard number == self.number, let body else { return nil }
        defer { withExtendedLifetime(arena) {} }
        return try Body(reading: body, isOfRequest: Message.isRequest)
    }

    /// Encodes a frame, with its length; nil if the message is longer than `limit` bytes.
    static func encode(
        _ body: some WireMessage, _ number: UInt32, id: UInt64, limit: Int
    ) throws(TokenError) -> [UInt8]? {
        let arena = WireArena(limit: 2 * WireLimits.replyFrame, estimate: Message.memoryEstimate)
        guard let memory = arena.message(Message.type) else { return nil }
        let message = memory.assumingMemoryBound(to: Message.self)
        message.pointee.has_request_id = 1
        message.pointee.request_id = id
        message.pointee.number = number
        message.pointee.body = try body.write(arena)
        guard !arena.isExhausted else { return nil }
        return Frame.pack(memory.assumingMemoryBound(to: ProtobufCMessage.self), limit: limit)
    }
}

/// The C structure of one of the two outer messages of agent.proto.
protocol COuterMessage {
    static var type: WireType { get }
    static var isRequest: Bool { get }
    /// The memory that most messages need before they are packed, in bytes.
    static var memoryEstimate: Int { get }

    var has_request_id: protobuf_c_boolean { get set }
    var request_id: UInt64 { get set }
    /// The number of the body's field.
    var number: UInt32 { get set }
    var body: UnsafeMutableRawPointer? { get set }
}

// The bodies of a message are a C union. The first member stands for any of them.

extension Sso__Request: COuterMessage {
    static let type = WireType(sso__request__init)
    static let isRequest = true
    static let memoryEstimate = 2 * 1024

    var number: UInt32 {
        get { body_case.rawValue }
        set { body_case = Sso__Request__BodyCase(rawValue: newValue) }
    }
    var body: UnsafeMutableRawPointer? {
        get { UnsafeMutableRawPointer(hello) }
        set { hello = newValue?.assumingMemoryBound(to: Sso__Hello.self) }
    }
}

extension Sso__Reply: COuterMessage {
    static let type = WireType(sso__reply__init)
    static let isRequest = false
    static let memoryEstimate = 8 * 1024

    var number: UInt32 {
        get { body_case.rawValue }
        set { body_case = Sso__Reply__BodyCase(rawValue: newValue) }
    }
    var body: UnsafeMutableRawPointer? {
        get { UnsafeMutableRawPointer(failure) }
        set { failure = newValue?.assumingMemoryBound(to: Sso__Failure.self) }
    }
}

/// Packs messages into frames.
private enum Frame {
    /// Packs a message after its length; nil if it is longer than `limit` bytes.
    static func pack(_ message: UnsafePointer<ProtobufCMessage>, limit: Int) -> [UInt8]? {
        let length = protobuf_c_message_get_packed_size(message)
        guard length <= limit else { return nil }
        let header = FrameDecoder.headerLength
        return [UInt8](unsafeUninitializedCapacity: header + length) { buffer, count in
            for index in 0..<header {
                buffer[index] = UInt8(truncatingIfNeeded: length >> (8 * (header - 1 - index)))
            }
            if let base = buffer.baseAddress { protobuf_c_message_pack(message, base + header) }
            count = header + length
        }
    }
}

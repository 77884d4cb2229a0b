internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// A request that has arrived: its number is known, its fields are read when it is known what it is.
package struct RequestFrame: @unchecked Sendable {
    // Unchecked because of the pointer: what it leads to is in the arena, and nobody changes either.

    /// The number that its reply has to carry; 0 if it has none.
    package let id: UInt64
    /// Which request it is, see `AgentRequest.number`; 0 if it is of a kind that this version does not know.
    package let number: UInt32
    private let body: UnsafeMutableRawPointer?
    private let arena: WireArena

    /// Reads a frame's bytes, without the length before them.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no request at all.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        arena = WireArena(limit: WireLimits.memory(forFrameOf: bytes.count))
        let message = arena.withAllocator { allocator in
            bytes.withContiguousStorageIfAvailable { sso__request__unpack(allocator, $0.count, $0.baseAddress) }
        }
        guard let message = message ?? nil else {
            throw TokenError(.malformedMessage, "the frame does not hold a request")
        }
        id = message.pointee.request_id
        number = message.pointee.body_case.rawValue
        // One place holds the pointer to whichever it is.
        body = UnsafeMutableRawPointer(message.pointee.hello)
    }

    /// The request itself.
    ///
    /// - Throws: `malformedMessage` (-53001) if it is not as it should be.
    package func request<Request: WireRequest>(_ type: Request.Type = Request.self) throws(TokenError) -> Request {
        guard number == Request.number, let body else {
            throw TokenError(.malformedMessage, "the frame holds another request")
        }
        defer { withExtendedLifetime(arena) {} }
        return try Request(reading: body)
    }

    /// The name of a request in agent.proto; nil if there is none of that number.
    package static func name(of number: UInt32) -> String? {
        protobuf_c_message_descriptor_get_field(WireType(sso__request__init).descriptor, number)?.pointee.name
            .map { String(cString: $0) }
    }

    /// The whole frame of a request, length and all.
    ///
    /// - Throws: `frameTooLarge` (-53002) over 64 KiB.
    package static func encode<Request: WireRequest>(_ request: Request, id: UInt64) throws(TokenError) -> [UInt8] {
        let arena = WireArena(limit: WireLimits.replyFrame)
        var message = Sso__Request()
        sso__request__init(&message)
        message.has_request_id = 1
        message.request_id = id
        message.body_case = Sso__Request__BodyCase(rawValue: Request.number)
        message.hello = try request.write(arena)?.assumingMemoryBound(to: Sso__Hello.self)
        guard !arena.isExhausted, let frame = Frame.pack(&message, limit: WireLimits.requestFrame) else {
            throw TokenError(
                .frameTooLarge,
                "the request is longer than \(WireLimits.requestFrame) bytes; shorten its claims or scopes")
        }
        return frame
    }
}

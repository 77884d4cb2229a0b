internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// A reply that has arrived: its fields are read by whoever has sent the request.
package struct ReplyFrame: @unchecked Sendable {
    // Unchecked because of the pointer: what it leads to is in the arena, and nobody changes either.

    /// The number of the request that it answers; 0 if that could not be read.
    package let id: UInt64
    /// Which request it answers, see `AgentRequest.number`; 0 if it is of a kind that this version does not know.
    package let number: UInt32
    private let body: UnsafeMutableRawPointer?
    private let arena: WireArena

    /// Reads a frame's bytes, without the length before them.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no reply at all.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        arena = WireArena(limit: WireLimits.memory(forFrameOf: bytes.count))
        let message = arena.withAllocator { allocator in
            bytes.withContiguousStorageIfAvailable { sso__reply__unpack(allocator, $0.count, $0.baseAddress) }
        }
        guard let message = message ?? nil else {
            throw TokenError(.malformedMessage, "the frame does not hold a reply")
        }
        id = message.pointee.request_id
        number = message.pointee.body_case.rawValue
        // One place holds the pointer to whichever it is.
        body = UnsafeMutableRawPointer(message.pointee.failure)
    }

    /// What the agent answers to a request of this type.
    ///
    /// - Throws: the agent's failure; `malformedMessage` (-53001) if the reply does not fit; `unsupportedProtocolVersion` (-53003)
    ///   if it is of a later version.
    package func reply<Request: WireRequest>(to type: Request.Type) throws(TokenError) -> Request.Reply {
        defer { withExtendedLifetime(arena) {} }
        if let failure = try failure { throw failure }
        guard number != 0 else {
            throw TokenError(.unsupportedProtocolVersion, "this app does not know that reply; update it")
        }
        guard number == Request.number, let body else {
            throw TokenError(.malformedMessage, "the agent's reply does not fit the request")
        }
        return try Request.Reply(reading: body)
    }

    /// The agent's failure; nil if it is none.
    package var failure: TokenError? {
        get throws(TokenError) {
            guard number == Self.failureNumber, let body else { return nil }
            defer { withExtendedLifetime(arena) {} }
            return try TokenError(reading: body)
        }
    }

    /// The whole frame of a reply, length and all; one over 1 MiB is replaced by the failure that says so.
    package static func encode<Request: WireRequest>(
        _ outcome: Result<Request.Reply, TokenError>, to type: Request.Type, id: UInt64
    ) -> [UInt8] {
        switch outcome {
        case .success(let reply): encode(reply, Request.number, id)
        case .failure(let error): encode(error, id: id)
        }
    }

    /// The whole frame of a failure.
    package static func encode(_ failure: TokenError, id: UInt64) -> [UInt8] { encode(failure, failureNumber, id) }

    private static func encode(_ body: some WireMessage, _ number: UInt32, _ id: UInt64) -> [UInt8] {
        let arena = WireArena(limit: 2 * WireLimits.replyFrame)
        var message = Sso__Reply()
        sso__reply__init(&message)
        message.has_request_id = 1
        message.request_id = id
        message.body_case = Sso__Reply__BodyCase(rawValue: number)
        do throws(TokenError) {
            message.failure = try body.write(arena)?.assumingMemoryBound(to: Sso__Failure.self)
        } catch {
            return encode(error, failureNumber, id)
        }
        if !arena.isExhausted, let frame = Frame.pack(&message, limit: WireLimits.replyFrame) { return frame }
        let tooLarge = TokenError(.frameTooLarge, "the reply is longer than \(WireLimits.replyFrame) bytes")
        return encode(tooLarge, failureNumber, id)
    }

    /// The number of `failure` in agent.proto.
    private static let failureNumber: UInt32 = 2
}

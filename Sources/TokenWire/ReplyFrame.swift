internal import CTokenProtos
package import TokenModel

/// A received reply, whose body is decoded when the type of its request is known.
package struct ReplyFrame: Sendable {
    private enum Content: Sendable {
        case message(OuterMessage<Sso__Reply>)
        /// A reply to a silent request, which has been read already.
        case result(TokenResult)
    }

    private let content: Content
    /// The ID of the request that it answers; 0 if the agent could not read it.
    package let id: UInt64
    /// The number of the request type (`AgentRequest.number`); 0 if this version does not know it.
    package let number: UInt32

    /// Decodes the bytes of a frame, without its length.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no reply.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        guard let message = OuterMessage<Sso__Reply>(decoding: bytes) else {
            throw TokenError(.malformedMessage, "the frame does not hold a reply")
        }
        self.init(.message(message), id: message.id, number: message.number)
    }

    /// Decodes the bytes of a frame, without its length, or reads a token result from them at once.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no reply.
    package init(decoding bytes: UnsafeRawBufferPointer, with reader: inout TokenResultReader) throws(TokenError) {
        guard let read = reader.read(bytes) else {
            try self.init(decoding: bytes)
            return
        }
        self.init(.result(read.result), id: read.id, number: AcquireTokenSilent.number)
    }

    private init(_ content: Content, id: UInt64, number: UInt32) {
        (self.content, self.id, self.number) = (content, id, number)
    }

    /// The result, if it has been read with the frame; nil if the reply has to be decoded with `reply(to:)`.
    package var result: TokenResult? {
        if case .result(let result) = content { result } else { nil }
    }

    /// Decodes the reply to a request of this type.
    ///
    /// - Throws: the agent's failure; `malformedMessage` (-53001) if the reply is malformed or answers another request type;
    ///   `unsupportedProtocolVersion` (-53003) if this version does not know the reply.
    package func reply<Request: WireRequest>(to type: Request.Type) throws(TokenError) -> Request.Reply {
        if let failure = try failure { throw failure }
        guard number != 0 else {
            throw TokenError(.unsupportedProtocolVersion, "this app does not know that reply; update it")
        }
        guard let reply = try body(Request.number, as: Request.Reply.self) else {
            throw Self.unreadable("it does not fit the request")
        }
        return reply
    }

    /// Where the list goes on after this page of it, without the page, which takes longer to decode; nil after the last page, and in a reply
    /// that is no page of that list.
    ///
    /// - Throws: `malformedMessage` (-53001) if it cannot be read.
    package func next<Request: WireRequest>(in list: Request.Type) throws(TokenError) -> String?
    where Request.Reply: WirePage {
        try body(Request.number, as: PageEnd<Request.Reply>.self)?.next
    }

    /// The agent's failure; nil if the reply is a success.
    package var failure: TokenError? {
        get throws(TokenError) { try body(Self.failureNumber, as: TokenError.self) }
    }

    /// Decodes the body; nil if it has another number.
    private func body<Body: WireMessage>(_ number: UInt32, as type: Body.Type) throws(TokenError) -> Body? {
        switch content {
        case .message(let message):
            do throws(TokenError) {
                return try message.read(number, as: type)
            } catch {
                throw Self.unreadable(error.message)
            }
        case .result(let result): return number == self.number ? result as? Body : nil
        }
    }

    /// The error of a reply that cannot be read, for which the values of the request are not to blame.
    private static func unreadable(_ problem: String) -> TokenError {
        TokenError(
            .malformedMessage, "the agent's reply cannot be read: \(problem); update the agent and this program",
            reason: .agent)
    }

    /// Encodes the frame of a reply, with its length. A reply over 1 MiB becomes a `frameTooLarge` failure.
    package static func encode<Request: WireRequest>(
        _ outcome: Result<Request.Reply, TokenError>, to type: Request.Type, id: UInt64
    ) -> [UInt8] {
        switch outcome {
        case .success(let reply): encode(reply, Request.number, id)
        case .failure(let error): encode(error, id: id)
        }
    }

    /// Encodes the frame of a failure, with its length.
    package static func encode(_ failure: TokenError, id: UInt64) -> [UInt8] { encode(failure, failureNumber, id) }

    private static func encode(_ body: some WireMessage, _ number: UInt32, _ id: UInt64) -> [UInt8] {
        let limit = WireLimits.replyFrame
        do throws(TokenError) {
            if let frame = try OuterMessage<Sso__Reply>.encode(body, number, id: id, limit: limit) { return frame }
            return encode(TokenError(.frameTooLarge, "the reply is longer than \(limit) bytes"), id: id)
        } catch {
            return encode(error, id: id)
        }
    }

    /// The number of `failure` in agent.proto.
    private static let failureNumber: UInt32 = 2
}

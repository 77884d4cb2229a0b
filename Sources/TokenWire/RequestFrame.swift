internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// A request that has arrived: its number is known, its fields are read when it is known what it is.
package struct RequestFrame: Sendable {
    private let envelope: Envelope<Sso__Request>

    /// The number that its reply has to carry; 0 if it has none.
    package var id: UInt64 { envelope.id }
    /// Which request it is, see `AgentRequest.number`; 0 if it is of a kind that this version does not know.
    package var number: UInt32 { envelope.number }

    /// Reads a frame's bytes, without the length before them.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no request at all.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        guard let envelope = Envelope<Sso__Request>(decoding: bytes) else {
            throw TokenError(.malformedMessage, "the frame does not hold a request")
        }
        self.envelope = envelope
    }

    /// The request itself.
    ///
    /// - Throws: `malformedMessage` (-53001) if it is not as it should be.
    package func request<Request: WireRequest>(_ type: Request.Type = Request.self) throws(TokenError) -> Request {
        guard let request = try envelope.read(Request.number, as: type) else {
            throw TokenError(.malformedMessage, "the frame holds another request")
        }
        return request
    }

    /// The name of a request in agent.proto; nil if there is none of that number.
    package static func name(of number: UInt32) -> String? {
        protobuf_c_message_descriptor_get_field(Sso__Request.type.descriptor, number)?.pointee.name
            .map { String(cString: $0) }
    }

    /// The whole frame of a request, length and all.
    ///
    /// - Throws: `frameTooLarge` (-53002) over 64 KiB.
    package static func encode<Request: WireRequest>(_ request: Request, id: UInt64) throws(TokenError) -> [UInt8] {
        let limit = WireLimits.requestFrame
        guard let frame = try Envelope<Sso__Request>.encode(request, Request.number, id: id, limit: limit) else {
            throw TokenError(
                .frameTooLarge, "the request is longer than \(limit) bytes; shorten its claims or scopes")
        }
        return frame
    }
}

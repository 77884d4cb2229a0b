internal import CProtobufC
internal import CTokenProtos
package import TokenModel

/// A received request, whose body is decoded when its handler is known.
package struct RequestFrame: Sendable {
    private let message: OuterMessage<Sso__Request>

    /// The ID that its reply has to repeat; 0 if it has none.
    package var id: UInt64 { message.id }
    /// The number of the request type (`AgentRequest.number`); 0 if this version does not know it.
    package var number: UInt32 { message.number }

    /// Decodes the bytes of a frame, without its length.
    ///
    /// - Throws: `malformedMessage` (-53001) if they are no request.
    package init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        guard let message = OuterMessage<Sso__Request>(decoding: bytes) else {
            throw TokenError(.malformedMessage, "the frame does not hold a request")
        }
        self.message = message
    }

    /// The ID at the beginning of a frame without its length, whose other bytes may be malformed; 0 if it does not begin with one.
    package static func leadingID(of bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var cursor = WireCursor(bytes, 0..<bytes.count)
            guard let tag = cursor.tag(), tag == (SilentRequestLayout.Fields.requestID, WireCursor.numeric) else {
                return 0
            }
            return cursor.number() ?? 0
        }
    }

    /// Decodes the request.
    ///
    /// - Throws: `malformedMessage` (-53001) if it is malformed or of another type.
    package func request<Request: WireRequest>(_ type: Request.Type = Request.self) throws(TokenError) -> Request {
        guard let request = try message.read(Request.number, as: type) else {
            throw TokenError(.malformedMessage, "the frame holds another request")
        }
        return request
    }

    /// The name of a request type in agent.proto; `unknown` for any other number.
    package static func name(of number: UInt32) -> String {
        protobuf_c_message_descriptor_get_field(Sso__Request.type.descriptor, number)?.pointee.name
            .map { String(cString: $0) } ?? "unknown"
    }

    /// Encodes the frame of a request, with its length.
    ///
    /// - Throws: `frameTooLarge` (-53002) for a request over 64 KiB, `malformedMessage` (-53001) for a value that the message cannot have.
    package static func encode<Request: WireRequest>(_ request: Request, id: UInt64) throws(TokenError) -> [UInt8] {
        let limit = WireLimits.requestFrame
        guard let frame = try OuterMessage<Sso__Request>.encode(request, Request.number, id: id, limit: limit) else {
            throw TokenError(
                .frameTooLarge, "the request is longer than \(limit) bytes; shorten its longest value")
        }
        return frame
    }
}

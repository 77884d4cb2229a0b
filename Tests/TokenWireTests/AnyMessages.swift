internal import TokenModel
internal import TokenWire

/// A request of any type. Shared with the fuzzer in Tests/Fuzz, so it imports no tests.
struct AnyRequest: Sendable, Equatable {
    let request: any WireRequest
    let id: UInt64

    init(_ request: any WireRequest, id: UInt64) {
        self.request = request
        self.id = id
    }

    /// Decodes a frame as the agent does: the number decides the type.
    init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        let frame = try RequestFrame(decoding: bytes)
        guard let type = Self.type(of: frame.number) else {
            throw TokenError(.unsupportedProtocolVersion, "there is no request \(frame.number)")
        }
        let request = try Self.request(type, in: frame)
        self.init(request, id: frame.id)
    }

    func frame() throws(TokenError) -> [UInt8] { try request.frame(id: id) }

    static func == (one: AnyRequest, other: AnyRequest) -> Bool {
        one.id == other.id && one.request.isEqual(other.request)
    }

    /// The request type with this number; nil if there is none.
    static func type(of number: UInt32) -> (any WireRequest.Type)? {
        WireSamples.requests.lazy.map { Swift.type(of: $0.request) }.first { $0.number == number }
    }

    private static func request<Request: WireRequest>(
        _ type: Request.Type, in frame: RequestFrame
    ) throws(TokenError) -> any WireRequest { try frame.request(type) }
}

/// A reply of any type.
struct AnyReply: Sendable, Equatable {
    let id: UInt64
    private let request: (any WireRequest.Type)?
    private let outcome: Result<any Sendable & Equatable, TokenError>

    init<Request: WireRequest>(_ reply: Request.Reply, to type: Request.Type, id: UInt64) {
        self.id = id
        request = type
        outcome = .success(reply)
    }

    init(failure: TokenError, id: UInt64) {
        self.id = id
        request = nil
        outcome = .failure(failure)
    }

    /// Decodes a frame; the number decides the type of its request.
    init(decoding bytes: some Collection<UInt8>) throws(TokenError) {
        self = try Self.decode(try ReplyFrame(decoding: bytes))
    }

    static func decode(_ frame: ReplyFrame) throws(TokenError) -> AnyReply {
        if let failure = try frame.failure { return AnyReply(failure: failure, id: frame.id) }
        // A reply of an unknown type is an error of its own.
        let type: any WireRequest.Type = AnyRequest.type(of: frame.number) ?? Hello.self
        return try reply(to: type, in: frame)
    }

    func frame() -> [UInt8] {
        guard let request else { return ReplyFrame.encode(failure ?? TokenError(.internalError, ""), id: id) }
        return encode(request)
    }

    /// The failure; nil if the reply is a success.
    var failure: TokenError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    static func == (one: AnyReply, other: AnyReply) -> Bool {
        guard one.id == other.id, one.request.map(ObjectIdentifier.init) == other.request.map(ObjectIdentifier.init)
        else { return false }
        switch (one.outcome, other.outcome) {
        case (.success(let one), .success(let other)): return one.isEqual(other)
        case (.failure(let one), .failure(let other)): return one == other
        default: return false
        }
    }

    private func encode<Request: WireRequest>(_ type: Request.Type) -> [UInt8] {
        guard case .success(let value) = outcome, let reply = value as? Request.Reply else { return [] }
        return ReplyFrame.encode(.success(reply), to: type, id: id)
    }

    private static func reply<Request: WireRequest>(
        to type: Request.Type, in frame: ReplyFrame
    ) throws(TokenError) -> AnyReply { AnyReply(try frame.reply(to: type), to: type, id: frame.id) }
}

extension WireRequest {
    fileprivate func frame(id: UInt64) throws(TokenError) -> [UInt8] { try RequestFrame.encode(self, id: id) }
}

extension Equatable {
    fileprivate func isEqual(_ other: Any) -> Bool { other as? Self == self }
}

/// A request with every field set, by its name in agent.proto.
struct RequestSample: Sendable {
    let name: String
    let request: any WireRequest

    init(_ name: String, _ request: any WireRequest) {
        self.name = name
        self.request = request
    }
}

/// A reply with every field set, by the name of its request in agent.proto; further samples have a longer name.
struct ReplySample: Sendable {
    let name: String
    let reply: AnyReply

    init(_ name: String, _ reply: AnyReply) {
        self.name = name
        self.reply = reply
    }
}

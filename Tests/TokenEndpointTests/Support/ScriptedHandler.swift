internal import NIOCore
internal import NIOHTTP1

/// One connection to a scripted server.
final class ScriptedHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let script: ScriptedServer.Script
    private let log: RequestLog
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(script: @escaping ScriptedServer.Script, log: RequestLog) {
        self.script = script
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let bytes):
            body += bytes.readableBytesView
        case .end:
            guard let head else { return }
            let request = ReceivedRequest(
                method: head.method.rawValue, uri: head.uri, headers: head.headers,
                body: String(decoding: body, as: UTF8.self))
            log.append(request)
            reply(script(request), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func reply(_ reply: ScriptedReply, _ context: ChannelHandlerContext) {
        switch reply {
        case .answer(let status, let headers, let body):
            answer(status, headers, ByteBuffer(string: body), context)
        case .filler(let bytes):
            answer(200, [], ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes), context)
        case .drip:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "100"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{")))), promise: nil)
        case .hangUp:
            context.close(promise: nil)
        case .silence:
            break
        }
    }

    private func answer(
        _ status: Int, _ headers: [(String, String)], _ body: ByteBuffer, _ context: ChannelHandlerContext
    ) {
        var fields = HTTPHeaders(headers)
        fields.add(name: "Content-Length", value: "\(body.readableBytes)")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

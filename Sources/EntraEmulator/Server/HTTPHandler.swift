internal import Foundation
internal import NIOCore
internal import NIOHTTP1

/// Reads the requests of one connection and writes their responses, one at a time.
///
/// A request waits until the client has read most of the responses before it, so that a client that reads nothing does not fill the
/// memory.
final class HTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The limit of a request's body, in bytes.
    private static let bodyLimit = 2 << 20
    /// The time in which a client has to read the response to its request when the server stops.
    private static let timeToReadTheLastResponse = TimeAmount.seconds(2)

    private enum State {
        case idle
        case receiving(HTTPRequestHead, Data)
        /// The request is complete, and earlier responses have not been sent.
        case waiting(HTTPRequestHead, Data)
        case responding(Task<Void, Never>)
    }

    private let respond: HTTPServer.Respond
    private var state = State.idle
    private var isStopping = false

    init(_ respond: @escaping HTTPServer.Respond) { self.respond = respond }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), _):
            state = .receiving(head, Data())
            if head.version == .http1_1, head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
                // Some clients send the body only after this response (RFC 9110 section 10.1.1).
                let response = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(response)), promise: nil)
            }
        case (.body(let bytes), .receiving(let head, var body)):
            // The state gives up its reference, so that appending does not copy the body.
            state = .idle
            body.append(contentsOf: bytes.readableBytesView)
            state = .receiving(head, body)
            if body.count > Self.bodyLimit {
                state = .idle
                write(Response(status: .payloadTooLarge), to: head, keepAlive: false, context)
            }
        case (.end, .receiving(let head, let body)):
            state = .waiting(head, body)
            startIfWritable(context)
        case (.body, _), (.end, _): break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        startIfWritable(context)
        context.fireChannelWritabilityChanged()
    }

    private func startIfWritable(_ context: ChannelHandlerContext) {
        guard case .waiting(let head, let body) = state, context.channel.isWritable else { return }
        start(head, body, context)
    }

    private func start(_ head: HTTPRequestHead, _ body: Data, _ context: ChannelHandlerContext) {
        let (respond, loop) = (respond, context.eventLoop)
        let request = ReceivedRequest(head, body: body)
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        // The task is unstructured, since a channel handler has none. It ends with the response, for which `stop` waits.
        let task = Task {
            let response = await respond(request)
            loop.execute {
                let (handler, context) = bound.value
                handler.finish(response, head, context)
            }
        }
        state = .responding(task)
        if isStopping { task.cancel() }
    }

    private func finish(_ response: Response?, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        state = .idle
        guard context.channel.isActive else { return }
        guard let response else { return context.close(promise: nil) }
        write(response, to: head, keepAlive: head.isKeepAlive && !isStopping, context)
    }

    private func write(
        _ response: Response, to request: HTTPRequestHead, keepAlive: Bool, _ context: ChannelHandlerContext
    ) {
        // After a status such as 204, a client reads content as the beginning of the next response.
        let hasBody = response.status.mayHaveResponseBody
        let body = ByteBuffer(string: hasBody ? response.body : "")
        var headers = response.headers
        if hasBody {
            headers.replaceOrAdd(name: "Content-Length", value: "\(body.readableBytes)")
        }
        headers.replaceOrAdd(name: "Date", value: Self.date())
        if !keepAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: request.version, status: response.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD, body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        if !keepAlive { written.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// The time as HTTP writes it (RFC 9110 section 5.6.7).
    private static func date() -> String {
        var (now, parts) = (time(nil), tm())
        guard gmtime_r(&now, &parts) != nil else { return "" }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is HTTPServer.Stop else { return context.fireUserInboundEventTriggered(event) }
        isStopping = true
        guard case .responding(let task) = state else { return context.close(promise: nil) }
        task.cancel()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.timeToReadTheLastResponse) { channel.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

internal import NIOCore
internal import NIOHTTP1

/// Reads one request from the browser, shows a page and hangs up.
final class LoopbackRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// For the request line, for all header fields, and for a posted form. Codes are some 2 KiB long.
    static let sizeLimit = 64 * 1024

    private let inbox: LoopbackInbox
    private let timeout: TimeAmount
    private var head: HTTPRequestHead?
    private var form: [UInt8] = []
    private var hasAnswered = false

    /// - Parameter timeout: for the whole request.
    init(_ inbox: LoopbackInbox, timeout: TimeAmount) {
        self.inbox = inbox
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let hangUp = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in hangUp.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasAnswered else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
        case .body(let bytes):
            guard form.count + bytes.readableBytes <= Self.sizeLimit else { return answer(.tooLarge, context) }
            form += bytes.readableBytesView
        case .end:
            answer(head.map(page) ?? .notFound, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func page(for head: HTTPRequestHead) -> LoopbackPage {
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = target.first.map(String.init) ?? ""
        switch head.method {
        case .GET:
            return LoopbackPage(inbox.receive(path: path, parameters: target.count > 1 ? String(target[1]) : ""))
        case .POST:
            return LoopbackPage(inbox.receive(path: path, parameters: String(decoding: form, as: UTF8.self)))
        default:
            return .notFound
        }
    }

    private func answer(_ page: LoopbackPage, _ context: ChannelHandlerContext) {
        hasAnswered = true
        let head = HTTPResponseHead(version: .http1_1, status: page.status, headers: page.headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: page.html)))), promise: nil)
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}

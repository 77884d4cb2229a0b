internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import TokenModel

/// Reads one request of the browser, responds with a page and closes the connection.
final class LoopbackRequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// The limit for the request line, for all header fields, and for a posted form, in bytes. Codes have about 2 KiB.
    static let sizeLimit = 64 * 1024

    private let inbox: LoopbackInbox
    private let timeout: TimeAmount
    private var head: HTTPRequestHead?
    private var form: [UInt8] = []
    private var hasResponded = false

    /// - Parameter timeout: the time limit for the whole request.
    init(_ inbox: LoopbackInbox, timeout: TimeAmount) {
        self.inbox = inbox
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        let closing = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in closing.cancel() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasResponded else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
        case .body(let bytes):
            guard form.count + bytes.readableBytes <= Self.sizeLimit else { return respond(with: .tooLarge, context) }
            form += bytes.readableBytesView
        case .end:
            respond(with: head.map(page) ?? .notFound, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func page(for head: HTTPRequestHead) -> LoopbackPage {
        let isComparable =
            !CombiningCharacters.areExcessive(in: head.uri)
            && !form.withUnsafeBufferPointer { CombiningCharacters.areExcessive(in: $0) }
        guard isComparable else { return .notFound }
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = target.first.map(String.init) ?? ""
        switch head.method {
        case .GET:
            if let page = inbox.page(launchedAt: path) { return .redirect(to: page) }
            return LoopbackPage(inbox.receive(path: path, parameters: target.count > 1 ? String(target[1]) : ""))
        case .POST:
            return LoopbackPage(inbox.receive(path: path, parameters: String(decoding: form, as: UTF8.self)))
        default:
            return .notFound
        }
    }

    private func respond(with page: LoopbackPage, _ context: ChannelHandlerContext) {
        hasResponded = true
        let head = HTTPResponseHead(version: .http1_1, status: page.status, headers: page.headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: page.html)))), promise: nil)
        let channel = context.channel
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}

/// Distinguishes the authorization response from any other request to the listener, and keeps it until it is awaited.
final class LoopbackInbox: Sendable {
    /// The kind of a request.
    enum RequestKind: Sendable, Equatable {
        /// The authorization response with a code.
        case signedIn
        /// The authorization response with an error.
        case failed
        /// A request for another path, such as a favicon.
        case notFound
        /// A request for the right path that is not the response to this sign-in, or comes when the sign-in has ended without one.
        case rejected
    }

    /// The end of the wait for the response.
    private enum Ending {
        case received
        case closed
    }

    /// The largest number of connections, which protects the agent's file descriptors. A browser opens a few.
    static let connectionLimit = 16

    private let path: String
    private let state: Secret
    private let responses: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    /// Nil while the response is awaited.
    private let ending = Mutex<Ending?>(nil)
    /// The open connections, the oldest first.
    private let connections = Mutex<[any Channel]>([])
    /// The unguessable path that leads to the sign-in page, and the URL of that page.
    private let launch = Mutex<(path: Secret, page: String)?>(nil)

    init(path: String, state: String) {
        self.path = path
        self.state = Secret(state)
        (responses, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Classifies a request by its path and its parameters, and keeps the parameters of the authorization response.
    func receive(path: String, parameters text: String) -> RequestKind {
        guard path == self.path else { return .notFound }
        guard let parameters = FormParameters(decoding: text[...]), let state = parameters["state"],
            Secret(state) == self.state
        else { return .rejected }
        let isClosed = ending.withLock { ending in
            guard ending == nil else { return ending == .closed }
            ending = .received
            continuation.yield(text)
            continuation.finish()
            return false
        }
        // A browser may have connected before the sign-in ended, and sends its request afterwards.
        guard !isClosed else { return .rejected }
        return OAuthError(parameters) == nil && parameters["code"] != nil ? .signedIn : .failed
    }

    /// Redirects requests for `path` to `page` from now on.
    func launch(_ page: String, at path: String) { launch.withLock { $0 = (Secret(path), page) } }

    /// The sign-in page to which a path leads; nil if it leads to none.
    func page(launchedAt path: String) -> String? {
        launch.withLock { launch in launch.flatMap { $0.path == Secret(path) ? $0.page : nil } }
    }

    /// Waits for the encoded parameters of the response; nil if the inbox is closed or the task is cancelled.
    func next() async -> String? {
        var iterator = responses.makeAsyncIterator()
        return await iterator.next()
    }

    func close() {
        ending.withLock { $0 = $0 ?? .closed }
        continuation.finish()
    }

    /// Adds a connection until it closes. If there are too many, the oldest one is closed: a browser sends its request at once, while a process
    /// of the user's, such as a sandboxed app, or a web page can keep connections open without sending one.
    func accept(_ channel: any Channel) {
        let oldest = connections.withLock { connections -> (any Channel)? in
            connections.append(channel)
            return connections.count > Self.connectionLimit ? connections.removeFirst() : nil
        }
        channel.closeFuture.whenComplete { _ in
            self.connections.withLock { connections in connections.removeAll { $0 === channel } }
        }
        oldest?.close(promise: nil)
    }
}

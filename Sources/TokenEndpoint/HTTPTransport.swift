internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import TokenModel

/// Sends requests to authorities, over connections that are opened on need and given up soon after.
final class HTTPTransport: Sendable {
    private enum State {
        case open([ProxyServer?: HTTPClient])
        case closed
    }

    private let network: NetworkSettings
    private let eventLoopGroup: any EventLoopGroup
    private let timing: HTTPTiming
    /// One `HTTPClient` a way out, made on first need: an agent that only answers from its cache needs none.
    private let state = Mutex(State.open([:]))

    init(network: NetworkSettings, eventLoopGroup: any EventLoopGroup, timing: HTTPTiming) {
        self.network = network
        self.eventLoopGroup = eventLoopGroup
        self.timing = timing
    }

    /// The whole answer, whatever its status. A 5xx status or a failure of the network is tried once more.
    func send(_ request: HTTPRequest) async throws(TokenError) -> HTTPResponse {
        let timing = timing
        let outcome = await withTaskGroup(of: Result<HTTPResponse, TokenError>.self) { group in
            group.addTask { await self.sendRepeating(request) }
            group.addTask {
                try? await Task.sleep(for: timing.whole)
                return .failure(Task.isCancelled ? .cancelledRequest : .timedOut(reaching: request.endpoint))
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? .failure(.cancelledRequest)
        }
        return try outcome.get()
    }

    func close() async {
        let open = state.withLock { state in
            defer { state = .closed }
            return if case .open(let open) = state { Array(open.values) } else { [HTTPClient]() }
        }
        for client in open { try? await client.shutdown() }
    }

    private func sendRepeating(_ request: HTTPRequest) async -> Result<HTTPResponse, TokenError> {
        let first = await sendOnce(request)
        guard first.isWorthRepeating else { return first }
        do {
            try await Task.sleep(for: timing.beforeRepeating)
        } catch {
            return .failure(.cancelledRequest)
        }
        return await sendOnce(request)
    }

    private func sendOnce(_ request: HTTPRequest) async -> Result<HTTPResponse, TokenError> {
        do {
            let client = try client(for: request)
            request.mark?.begun()
            // The deadline is the caller's, since this one would not cover the body.
            let response = try await client.execute(request.asClientRequest, deadline: .distantFuture)
            let body = try await response.body.collect(upTo: HTTPResponse.bodyLimit)
            return .success(
                HTTPResponse(
                    endpoint: request.endpoint, status: Int(response.status.code), headers: response.headers,
                    body: Array(body.readableBytesView)))
        } catch let error as TokenError {
            return .failure(error)
        } catch {
            if TokenError.neverConnected(error) { request.mark?.neverConnected() }
            return .failure(Task.isCancelled ? .cancelledRequest : TokenError(error, reaching: request.endpoint))
        }
    }

    private func client(for request: HTTPRequest) throws(TokenError) -> HTTPClient {
        let proxy = network.proxy(for: try URLParts(request.url))
        let client = state.withLock { state -> HTTPClient? in
            guard case .open(var open) = state else { return nil }
            if let client = open[proxy] { return client }
            let client = HTTPClient(
                eventLoopGroupProvider: .shared(eventLoopGroup),
                configuration: HTTPClient.Configuration(network, through: proxy, timing: timing))
            open[proxy] = client
            state = .open(open)
            return client
        }
        guard let client else { throw .cancelledRequest }
        return client
    }
}

extension Result<HTTPResponse, TokenError> {
    /// Whether the same request may well succeed half a second later.
    fileprivate var isWorthRepeating: Bool {
        switch self {
        case .success(let response): (500...599).contains(response.status)
        case .failure(let error): error.details.networkErrorCode.map { $0 != NetworkErrorCode.tlsFailure } ?? false
        }
    }
}

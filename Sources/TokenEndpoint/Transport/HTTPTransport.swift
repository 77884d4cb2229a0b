internal import Curl
internal import TokenModel

/// Sends requests to authorities. Connections are opened when needed and closed when they have been idle for a while.
final class HTTPTransport: Sendable {
    private let network: NetworkSettings
    private let timing: HTTPTiming
    private let engine: CurlEngine

    init(network: NetworkSettings, timing: HTTPTiming) {
        self.network = network
        self.timing = timing
        self.engine = CurlEngine(idle: timing.idle)
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

    /// Fails what is under way, and whatever comes later, with `cancelled`.
    func close() async { await engine.close() }

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
        let proxy: ProxyServer?
        do throws(TokenError) {
            proxy = network.proxy(for: try URLParts(request.url))
        } catch {
            return .failure(error)
        }
        let delivery = request.delivery
        do throws(CurlFailure) {
            // Without a time limit: the caller's covers a repetition too.
            let response = try await engine.send(
                CurlRequest(
                    url: request.url, fields: request.fields, body: request.form?.encodedSecret,
                    proxy: proxy?.forCurl, caFile: network.caFile, connectTimeout: timing.connect,
                    bodyLimit: HTTPResponse.bodyLimit)
            ) { event in
                switch event {
                case .begins: delivery?.begun()
                case .cameToNothing: delivery?.neverConnected()
                }
            }
            return .success(HTTPResponse(endpoint: request.endpoint, response))
        } catch {
            return .failure(TokenError(error, reaching: request, through: proxy))
        }
    }
}

extension ProxyServer {
    fileprivate var forCurl: CurlRequest.Proxy {
        CurlRequest.Proxy(
            url: "\(kind.rawValue)://\(host.contains(":") ? "[\(host)]" : host):\(port)", user: user, password: password
        )
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

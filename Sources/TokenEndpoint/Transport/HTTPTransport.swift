internal import Curl
internal import PosixFiles
internal import TokenModel

/// Sends requests to authorities, each on a connection of its own.
final class HTTPTransport: Sendable {
    private let network: NetworkSettings
    private let timing: HTTPTiming
    /// The engine for the hosts of Microsoft's clouds. Hosts that an app chooses have an engine of their own: if they
    /// never answer, they do not use up these connections.
    private let clouds: CurlEngine
    private let others: CurlEngine

    init(network: NetworkSettings, timing: HTTPTiming) {
        self.network = network
        self.timing = timing
        self.clouds = CurlEngine(
            idle: timing.idle, connectionsPerHost: Self.connections, connections: Self.connections)
        self.others = CurlEngine(
            idle: timing.idle, connectionsPerHost: Self.connections / 2, connections: Self.connections)
    }

    /// The largest number of connections of each kind. As many redemptions of different accounts run at the same time, each on a
    /// connection of its own; the agent leaves file descriptors for them. Further ones wait. The agent lets no peer use all of the others.
    static let connections = 128

    /// The time limit of a request and its retry, in seconds.
    var timeLimit: Int64 { timing.total.components.seconds }

    private func engine(for host: String) -> CurlEngine { CloudDirectory.isBuiltIn(host) ? clouds : others }

    /// Sends a request, and returns what `read` makes of the response, whatever its status.
    ///
    /// `read` runs on a thread of tasks, never on the caller's actor, so that the agent's event loop decodes no response. So does
    /// `readIncomplete`, with what has arrived of a response before the connection was lost, or the request ended by its time limit or
    /// because its task was cancelled. A whole response that has arrived by then is used.
    ///
    /// A GET is retried once after a 5xx status or a network failure. A form is retried once only if the first attempt
    /// had no connection: the authority may have redeemed a grant whose response did not arrive, or is an error.
    func send<Value: Sendable>(
        _ request: HTTPRequest, read: @escaping @Sendable (HTTPResponse) throws(TokenError) -> Value,
        readIncomplete: @escaping @Sendable (HTTPResponse) -> Void = { _ in }
    ) async throws(TokenError) -> Value {
        let timing = timing
        let outcome = await withTaskGroup(of: Result<Value, TokenError>?.self) { group in
            group.addTask { @concurrent in
                let outcome = await self.sendWithRetry(request)
                if case .failure = outcome, let part = request.delivery.incompleteResponse { readIncomplete(part) }
                return outcome.flatMap { response in
                    Result { () throws(TokenError) in try read(response) }
                }
            }
            group.addTask {
                // The time limit. The group cancels this task when the response has arrived.
                await Pause.wait(for: timing.total)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            let last = await group.next() ?? nil
            if let last, !last.isOfCancellation { return last }
            return .failure(Task.isCancelled ? .cancelledRequest : .timedOut(reaching: request.endpoint))
        }
        return try outcome.get()
    }

    /// Fails requests in progress and later ones with `cancelled`, but for forms that may have been sent.
    func stopSending() {
        clouds.stopSending()
        others.stopSending()
    }

    /// Fails requests in progress and later ones with `cancelled`.
    func close() async {
        await clouds.close()
        await others.close()
    }

    private func sendWithRetry(_ request: HTTPRequest) async -> Result<HTTPResponse, TokenError> {
        let first = await sendOnce(request)
        guard request.isRetryable(after: first) else { return first }
        // Another attempt may succeed when the authority or the network has had time to recover.
        await Pause.wait(for: timing.retryDelay)
        return Task.isCancelled ? .failure(.cancelledRequest) : await sendOnce(request)
    }

    private func sendOnce(_ request: HTTPRequest) async -> Result<HTTPResponse, TokenError> {
        let (proxy, engine): (ProxyServer?, CurlEngine)
        do throws(TokenError) {
            let parts = try URLParts(request.url)
            (proxy, engine) = (network.proxy(for: parts), self.engine(for: parts.host))
        } catch {
            return .failure(error)
        }
        let delivery = request.delivery
        do throws(CurlFailure) {
            // There is no time limit here: `send` has one for both attempts.
            let response = try await engine.send(
                CurlRequest(
                    url: request.url, fields: request.fields, body: request.form?.encodedSecret,
                    proxy: proxy?.forCurl, caFile: network.caFile, connectTimeout: timing.connect,
                    bodyLimit: HTTPResponse.bodyLimit)
            ) { event in
                switch event {
                case .begins: delivery.recordSending()
                case .neverSent: delivery.recordNeverSent()
                case .incomplete(let part):
                    delivery.recordIncomplete(HTTPResponse(endpoint: request.endpoint, part))
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

extension HTTPRequest {
    /// Whether the request may be sent again, and may succeed then.
    fileprivate func isRetryable(after first: Result<HTTPResponse, TokenError>) -> Bool {
        guard form == nil || !delivery.mayHaveArrived else { return false }
        switch first {
        case .success(let response): return (500...599).contains(response.status)
        case .failure(let error):
            return error.details.networkErrorCode.map { !NetworkErrorCode.ofTrust.contains($0) } ?? false
        }
    }
}

extension Result where Failure == TokenError {
    fileprivate var isOfCancellation: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}

/// The time limits of HTTP.
package struct HTTPTiming: Sendable {
    /// The time limit for connecting, TLS included.
    package var connect: Duration
    /// The time limit for a response, including its body and a retry.
    package var total: Duration
    /// The delay before a retry.
    package var retryDelay: Duration
    /// The time after which the thread of a ``CurlEngine`` ends without a request. It is short, since the agent is idle most of the time.
    package let idle = Duration.seconds(10)
    /// The time limit for the request of a browser that has connected to the redirect URI. A browser sends it at once;
    /// another peer could occupy a file descriptor.
    package var browser: Duration

    package init(
        connect: Duration = .seconds(10), total: Duration = .seconds(30),
        retryDelay: Duration = .milliseconds(500), browser: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.total = total
        self.retryDelay = retryDelay
        self.browser = browser
    }
}

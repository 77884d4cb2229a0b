internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL
internal import TokenModel

extension HTTPClient.Configuration {
    /// HTTP/1.1 over TLS 1.2 or later; no redirects, since a form with a refresh token must go nowhere else.
    init(_ network: NetworkSettings, through proxy: ProxyServer?, timing: HTTPTiming) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let caFile = network.caFile { tls.trustRoots = .file(caFile) }
        self.init(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: Timeout(connect: TimeAmount(timing.connect)),
            connectionPool: HTTPClient.Configuration.ConnectionPool(
                idleTimeout: TimeAmount(timing.idle), concurrentHTTP1ConnectionsPerHostSoftLimit: 8),
            proxy: proxy?.asProxy)
        httpVersion = .http1Only
        // The pool would go on trying until the connect timeout; `HTTPTransport` knows better when to give up.
        connectionPool.retryConnectionEstablishment = false
    }
}

extension ProxyServer {
    fileprivate var asProxy: HTTPClient.Configuration.Proxy {
        .server(
            host: host, port: port,
            authorization: user.map { .basic(username: $0, password: password?.reveal() ?? "") })
    }
}

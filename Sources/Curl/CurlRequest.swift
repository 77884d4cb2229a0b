package import TokenModel

/// An HTTP request: a POST with a body, or a GET.
package struct CurlRequest: Sendable {
    /// An HTTP proxy, which tunnels with `CONNECT`, or a SOCKS proxy.
    package struct Proxy: Sendable {
        /// `scheme://host:port` with `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`.
        package var url: String
        /// The user; nil to authenticate with the user's Kerberos ticket if an HTTP proxy requests `Negotiate`.
        package var user: String?
        package var password: Secret?

        package init(url: String, user: String? = nil, password: Secret? = nil) {
            self.url = url
            self.user = user
            self.password = password
        }
    }

    /// The URL, with the scheme `http` or `https`; it is not normalised.
    package var url: String
    /// Header fields besides those that HTTP requires.
    package var fields: [(name: String, value: String)]
    /// The body of a POST; nil for a GET. Its copies are wiped after the transfer.
    package var body: Secret?
    /// The proxy; nil for none. The environment is not read.
    package var proxy: Proxy?
    /// The PEM file of the trusted certificate authorities; nil for those of the system.
    package var caFile: String?
    /// The time limit for connecting, TLS included.
    package var connectTimeout: Duration
    /// The limit for the body of the response, in bytes.
    package var bodyLimit: Int

    package init(
        url: String, fields: [(name: String, value: String)] = [], body: Secret? = nil, proxy: Proxy? = nil,
        caFile: String? = nil, connectTimeout: Duration = .seconds(10), bodyLimit: Int = 1 << 20
    ) {
        self.url = url
        self.fields = fields
        self.body = body
        self.proxy = proxy
        self.caFile = caFile
        self.connectTimeout = connectTimeout
        self.bodyLimit = bodyLimit
    }
}

/// An HTTP response.
package struct CurlResponse: Sendable {
    package var status: Int
    /// The header fields in the order received, with the server's spelling.
    package var fields: [(name: String, value: String)]
    /// The body, which may have tokens.
    package var body: Secret
}

/// The reason why there is no response.
package enum CurlFailure: Error, Sendable, Equatable {
    /// The task was cancelled, or the engine was closed.
    case cancelled
    /// libcurl cannot be used; the text has the reason and the remedy.
    case unavailable(String)
    /// There was no connection or no response in time.
    case timedOut
    /// There is no address of the host.
    /// - Parameter isOffline: whether this machine has no route to the internet.
    case hostNotFound(isOffline: Bool)
    /// There is no address of the proxy.
    /// - Parameter isOffline: whether this machine has no route to the internet.
    case proxyNotFound(isOffline: Bool)
    /// The connection failed with an error number of the system; 0 for none.
    case cannotConnect(errno: Int32)
    /// The connection was closed before the response was complete.
    case connectionLost
    /// The proxy refused the connection with an HTTP status; 0 for none.
    case proxyRefused(status: Int)
    /// There is no TLS connection to the server.
    case tls(CurlTLSFailure)
    /// There is no TLS connection to the proxy itself.
    case proxyTLS(CurlTLSFailure)
    /// The file of certificate authorities cannot be read.
    case caFileUnusable
    /// The header fields of the response exceed their limit.
    case headTooLong
    /// The body of the response exceeds its limit.
    case bodyTooLong
    /// The response is not HTTP.
    case notHTTP
    /// Another reason, in libcurl's words, without anything of the request.
    case other(String)
}

/// The reason why there is no TLS connection.
package enum CurlTLSFailure: Sendable, Equatable {
    /// The certificate is not trusted.
    case untrusted
    /// The certificate is for another host.
    case otherHost
    /// The certificate has expired, or is not valid yet.
    case outOfDate
    /// The handshake failed, for another reason than the certificate.
    case handshake
}

/// The progress of a request, reported on the thread that sends it.
package enum CurlSending: Sendable {
    /// There is a connection, and the request is about to be sent.
    case begins
    /// The request was not sent after all: there was no connection. Only with a libcurl older than 7.80.
    case neverSent
    /// The transfer has failed or was ended, after a part of the response's body had arrived.
    case incomplete(CurlResponse)
}

package import TokenModel

/// One HTTP request: a body to post, or nothing to get.
package struct CurlRequest: Sendable {
    /// An HTTP proxy, which tunnels with `CONNECT`, or a SOCKS proxy.
    package struct Proxy: Sendable {
        /// `scheme://host:port` with `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`.
        package var url: String
        /// Nil lets an HTTP proxy that asks for `Negotiate` get a Kerberos ticket of the user.
        package var user: String?
        package var password: Secret?

        package init(url: String, user: String? = nil, password: Secret? = nil) {
            self.url = url
            self.user = user
            self.password = password
        }
    }

    /// `http` or `https`; sent as it is written.
    package var url: String
    /// Header fields besides those that HTTP itself needs.
    package var fields: [(name: String, value: String)]
    /// The body of a POST; nil for a GET. Copies are wiped after the transfer.
    package var body: Secret?
    /// Nil for none; the environment is not read.
    package var proxy: Proxy?
    /// The PEM file of the certificate authorities to trust instead of the system's; nil for the system's.
    package var caFile: String?
    /// For a connection, TLS included.
    package var connectTimeout: Duration
    /// The limit of all header fields of the answer together, in bytes.
    package var headLimit: Int
    /// The limit of the answer's body, in bytes.
    package var bodyLimit: Int

    package init(
        url: String, fields: [(name: String, value: String)] = [], body: Secret? = nil, proxy: Proxy? = nil,
        caFile: String? = nil, connectTimeout: Duration = .seconds(10), headLimit: Int = 64 << 10,
        bodyLimit: Int = 1 << 20
    ) {
        self.url = url
        self.fields = fields
        self.body = body
        self.proxy = proxy
        self.caFile = caFile
        self.connectTimeout = connectTimeout
        self.headLimit = headLimit
        self.bodyLimit = bodyLimit
    }
}

/// The answer to a request, whole.
package struct CurlResponse: Sendable {
    package var status: Int
    /// Names as the server spelled them, in the order in which they came.
    package var fields: [(name: String, value: String)]
    /// May hold tokens.
    package var body: Secret
}

/// Why there is no answer.
package enum CurlFailure: Error, Sendable, Equatable {
    /// The task was cancelled, or the engine closed.
    case cancelled
    /// libcurl cannot be used: the reason, and what to do.
    case unavailable(String)
    /// There was no connection, or no answer, in time.
    case timedOut
    case hostNotFound
    case proxyNotFound
    /// With the system's error number, 0 for none.
    case cannotConnect(errno: Int32)
    /// The connection broke before the answer was complete.
    case connectionLost
    /// With the HTTP status of the proxy, 0 for none.
    case proxyRefused(status: Int)
    /// The certificate is not trusted.
    case untrusted
    /// The certificate is for another host.
    case otherHost
    /// The TLS handshake failed.
    case tlsFailed
    /// The file of certificate authorities cannot be read.
    case caFileUnusable
    /// The header fields of the answer exceed their limit.
    case headTooLong
    /// The body of the answer exceeds its limit.
    case bodyTooLong
    /// The answer is not HTTP.
    case notHTTP
    /// Another reason, in libcurl's words, which hold nothing of the request.
    case other(String)
}

/// The progress of a request, reported on the thread that sends it.
package enum CurlSending: Sendable {
    /// There is a connection, and the request is about to be sent over it.
    case begins
    /// The request was not sent after all: there was no connection. Only with a libcurl older than 7.80.
    case cameToNothing
}

internal import Curl
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension TokenError {
    static let cancelledRequest = TokenError(.cancelled, "the request was cancelled")

    static func timedOut(reaching endpoint: String) -> TokenError {
        TokenError(network: NetworkErrorCode.timedOut, "\(endpoint) did not respond in time")
    }

    /// The error for a request without a response.
    ///
    /// - Parameter proxy: the proxy of the request; nil for none.
    init(_ failure: CurlFailure, reaching request: HTTPRequest, through proxy: ProxyServer?) {
        let endpoint = request.endpoint
        switch failure {
        case .cancelled:
            self = .cancelledRequest
        case .timedOut:
            self = .timedOut(reaching: endpoint)
        case .hostNotFound:
            let host = (try? URLParts(request.url))?.host ?? endpoint
            self.init(network: NetworkErrorCode.hostNotFound, "no address was found for \(host)")
        case .proxyNotFound:
            self.init(
                network: NetworkErrorCode.hostNotFound,
                "no address was found for the proxy \(proxy?.host ?? ""); check network.proxy, HTTPS_PROXY and NO_PROXY"
            )
        case .cannotConnect(let errno):
            let way = proxy.map { "\(endpoint) cannot be reached through the proxy \($0.host):\($0.port)" }
            self.init(
                network: Self.networkCode(errno: errno),
                "\(way ?? "\(endpoint) cannot be reached"): \(Self.reason(errno: errno))")
        case .connectionLost:
            self.init(
                network: NetworkErrorCode.connectionLost,
                "\(endpoint) closed the connection before its response was complete")
        case .proxyRefused(407):
            let remedy =
                proxy?.user == nil
                ? "run kinit for a Kerberos ticket, or put user:password@ into network.proxy or HTTPS_PROXY"
                : "check the user and the password in network.proxy or HTTPS_PROXY"
            self.init(
                network: NetworkErrorCode.cannotConnect,
                "the proxy on the way to \(endpoint) requires authentication (HTTP status 407); \(remedy)")
        case .proxyRefused(let status):
            self.init(
                network: NetworkErrorCode.cannotConnect,
                "the proxy on the way to \(endpoint) refused\(status > 0 ? " (HTTP status \(status))" : ""); "
                    + "check network.proxy, HTTPS_PROXY and NO_PROXY")
        case .untrusted: self.init(untrusted: endpoint, "its certificate is not trusted; \(Self.trustAdvice)")
        case .otherHost:
            self.init(
                untrusted: endpoint, "its certificate is for another host",
                code: NetworkErrorCode.certificateOfOtherHost)
        case .outOfDate:
            self.init(
                untrusted: endpoint,
                "its certificate has expired or is not valid yet, by the clock of this machine; set the clock if it is wrong",
                code: NetworkErrorCode.certificateDates)
        case .tlsFailed: self.init(untrusted: endpoint, "the TLS handshake failed; \(Self.trustAdvice)")
        case .caFileUnusable:
            self.init(
                untrusted: endpoint,
                "the agent cannot read the file of certificate authorities; restart it if the file was replaced, else check "
                    + "network.ca_file and SSL_CERT_FILE")
        case .headTooLong: self.init(.serverInvalidResponse, "the header of the response of \(endpoint) is too long")
        case .bodyTooLong: self.init(.serverInvalidResponse, "the response of \(endpoint) is longer than 1 MiB")
        case .notHTTP: self.init(.serverInvalidResponse, "the response of \(endpoint) is not HTTP")
        case .unavailable(let reason):
            self.init(network: NetworkErrorCode.offline, "no request can be sent to \(endpoint): \(reason)")
        case .other(let reason):
            self.init(network: NetworkErrorCode.connectionLost, "the connection to \(endpoint) failed: \(reason)")
        }
    }

    private init(untrusted endpoint: String, _ reason: String, code: Int32 = NetworkErrorCode.tlsFailure) {
        self.init(network: code, "no trusted connection to \(endpoint): \(reason)")
    }

    private static let trustAdvice =
        "if its certificate authority is not one of the system's, name the authority's file in network.ca_file or SSL_CERT_FILE"

    private init(network code: Int32, _ message: String) {
        var details = Details()
        details.networkErrorCode = code
        self.init(.networkUnavailable, UntrustedText.clean(message), details: details)
    }

    private static func reason(errno: Int32) -> String {
        errno == 0 ? "nothing listens there" : String(cString: strerror(errno))
    }

    private static func networkCode(errno: Int32) -> Int32 {
        switch errno {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: NetworkErrorCode.offline
        case ETIMEDOUT: NetworkErrorCode.timedOut
        case ECONNRESET, EPIPE: NetworkErrorCode.connectionLost
        default: NetworkErrorCode.cannotConnect
        }
    }
}

/// The codes of network failures in `NSURLErrorDomain`.
package enum NetworkErrorCode {
    static let timedOut: Int32 = -1001
    static let hostNotFound: Int32 = -1003
    static let cannotConnect: Int32 = -1004
    static let connectionLost: Int32 = -1005
    static let offline: Int32 = -1009
    static let tlsFailure: Int32 = -1200
    package static let certificateDates: Int32 = -1201
    package static let certificateOfOtherHost: Int32 = -1202
    /// The codes of connections that are not trusted.
    static let ofTrust: Set = [tlsFailure, certificateDates, certificateOfOtherHost]
}

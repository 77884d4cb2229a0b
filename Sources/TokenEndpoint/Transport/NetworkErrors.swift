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
        let way = proxy.map { " through the proxy \($0.host):\($0.port)" } ?? ""
        switch failure {
        case .cancelled:
            self = .cancelledRequest
        case .timedOut:
            self.init(network: NetworkErrorCode.timedOut, "\(endpoint) did not respond in time\(way)")
        case .hostNotFound(let isOffline):
            self.init(withoutAddressOf: (try? URLParts(request.url))?.host ?? endpoint, isOffline: isOffline)
        case .proxyNotFound(let isOffline):
            self.init(
                withoutAddressOf: "the proxy \(proxy?.host ?? "")", isOffline: isOffline,
                advice: "; check network.proxy, HTTPS_PROXY and NO_PROXY")
        case .cannotConnect(let errno):
            self.init(
                network: Self.networkCode(errno: errno),
                "\(endpoint) cannot be reached\(way): \(Self.reason(errno: errno))")
        case .connectionLost:
            self.init(
                network: NetworkErrorCode.connectionLost,
                "\(endpoint) closed the connection before its response was complete")
        case .proxyRefused(407):
            let remedy =
                proxy?.user == nil
                ? "run kinit for a Kerberos ticket, or put user:password@ into network.proxy or HTTPS_PROXY"
                : "check the user and the password in network.proxy or HTTPS_PROXY, which are sent with Basic authentication only"
            self.init(
                network: NetworkErrorCode.cannotConnect,
                "the proxy on the way to \(endpoint) requires authentication (HTTP status 407); \(remedy)")
        case .proxyRefused(let status):
            self.init(
                network: NetworkErrorCode.cannotConnect,
                "the proxy on the way to \(endpoint) refused\(status > 0 ? " (HTTP status \(status))" : ""); "
                    + "check network.proxy, HTTPS_PROXY and NO_PROXY")
        case .tls(let failure):
            // Behind a proxy with TLS, libcurl with OpenSSL reports a certificate that is not trusted as a handshake that failed.
            let mayBeUntrusted = proxy?.kind == .https
            self.init(
                failure, reaching: endpoint,
                handshakeAdvice: "a captive portal, a proxy or a firewall may answer in its place, or it has no TLS 1.2"
                    + (mayBeUntrusted ? "; \(Self.trustAdvice)" : ""))
        case .proxyTLS(let failure):
            self.init(
                failure, reaching: "the proxy \(proxy?.host ?? ""):\(proxy?.port ?? 0)",
                handshakeAdvice: "if the proxy has no TLS itself, write http:// in network.proxy or HTTPS_PROXY")
        case .caFileUnusable:
            self.init(
                network: NetworkErrorCode.tlsFailure,
                "no trusted connection to \(endpoint): the agent cannot read the file of certificate authorities; restart it if "
                    + "the file was replaced, else check network.ca_file and SSL_CERT_FILE")
        case .headTooLong: self.init(.serverInvalidResponse, "the header of the response of \(endpoint) is too long")
        case .bodyTooLong: self.init(.serverInvalidResponse, "the response of \(endpoint) is longer than 1 MiB")
        case .notHTTP: self.init(.serverInvalidResponse, "the response of \(endpoint) is not HTTP")
        case .unavailable(let reason):
            self.init(network: NetworkErrorCode.offline, "no request can be sent to \(endpoint): \(reason)")
        case .other(let reason):
            self.init(network: NetworkErrorCode.connectionLost, "the connection to \(endpoint) failed: \(reason)")
        }
    }

    /// The error for a host that has no address. Without a network, name servers cannot be asked either, and apps look for the code of that.
    private init(withoutAddressOf host: String, isOffline: Bool, advice: String = "") {
        self.init(
            network: isOffline ? NetworkErrorCode.offline : NetworkErrorCode.hostNotFound,
            "no address was found for \(host)"
                + (isOffline ? ", and this machine has no route to the internet" : "") + advice)
    }

    /// The error for a TLS connection that could not be made.
    ///
    /// - Parameter server: the URL, or a description of the proxy, for the message.
    private init(_ failure: CurlTLSFailure, reaching server: String, handshakeAdvice: String) {
        let (code, reason): (Int32, String) =
            switch failure {
            case .untrusted: (NetworkErrorCode.tlsFailure, "its certificate is not trusted; \(Self.trustAdvice)")
            case .otherHost: (NetworkErrorCode.certificateOfOtherHost, "its certificate is for another host")
            case .outOfDate:
                (
                    NetworkErrorCode.certificateDates,
                    "its certificate has expired or is not valid yet, by the clock of this machine; set the clock if it is wrong"
                )
            case .handshake: (NetworkErrorCode.tlsFailure, "the TLS handshake failed; \(handshakeAdvice)")
            }
        self.init(network: code, "no trusted connection to \(server): \(reason)")
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

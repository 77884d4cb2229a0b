internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension TokenError {
    static let cancelledRequest = TokenError(.cancelled, "the request was cancelled")

    static func timedOut(reaching endpoint: String) -> TokenError {
        TokenError(network: NetworkErrorCode.timedOut, "\(endpoint) did not answer in time")
    }

    /// What went wrong on the way to `endpoint` and back, in terms of this package.
    init(_ error: any Error, reaching endpoint: String) {
        switch error {
        case is CancellationError:
            self = .cancelledRequest
        case is NIOTooManyBytesError:
            self.init(.serverInvalidResponse, "the answer of \(endpoint) is longer than 1 MiB")
        case is HTTPParserError:
            self.init(.serverInvalidResponse, "the answer of \(endpoint) is not HTTP")
        case let error as HTTPClientError:
            self.init(error, reaching: endpoint)
        case let error as NIOConnectionError:
            self.init(error, reaching: endpoint)
        case NIOSSLError.uncleanShutdown:
            self.init(network: NetworkErrorCode.connectionLost, "\(endpoint) hung up before its answer was complete")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            self.init(
                network: NetworkErrorCode.tlsFailure,
                "no trusted connection to \(endpoint): \(Self.reason(tls: error)); if a certificate authority of your own stands behind it, "
                    + "name its file in network.ca_file or SSL_CERT_FILE")
        case ChannelError.connectTimeout:
            self = .timedOut(reaching: endpoint)
        case let error as IOError:
            self.init(network: Self.networkCode(errno: error.errnoCode), "\(endpoint) cannot be reached: \(error)")
        default:
            self.init(network: NetworkErrorCode.connectionLost, "the connection to \(endpoint) broke: \(error)")
        }
    }

    /// Whether it says that there was no connection, so that nothing can have been sent over one. Where that is doubtful,
    /// something may have been.
    static func neverConnected(_ error: any Error) -> Bool {
        switch error {
        case is NIOConnectionError, ChannelError.connectTimeout, NIOSSLError.handshakeFailed: true
        case let error as NIOSSLExtraError: error == .failedToValidateHostname
        // Of one address alone; with several it is a `NIOConnectionError`.
        case let error as IOError: error.errnoCode == ECONNREFUSED
        case let error as HTTPClientError:
            [
                .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .proxyAuthenticationRequired,
                .invalidProxyResponse, .httpProxyHandshakeTimeout,
            ].contains(error)
        default: false
        }
    }

    private init(_ error: HTTPClientError, reaching endpoint: String) {
        switch error {
        case .cancelled, .alreadyShutdown, .requestStreamCancelled:
            self = .cancelledRequest
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout:
            self = .timedOut(reaching: endpoint)
        case .proxyAuthenticationRequired, .invalidProxyResponse, .httpProxyHandshakeTimeout:
            self.init(
                network: NetworkErrorCode.cannotConnect,
                "the proxy on the way to \(endpoint) refused: \(error.shortDescription); "
                    + "check network.proxy, HTTPS_PROXY and NO_PROXY")
        default:
            self.init(
                network: NetworkErrorCode.connectionLost,
                "the connection to \(endpoint) broke: \(error.shortDescription)")
        }
    }

    private init(_ error: NIOConnectionError, reaching endpoint: String) {
        guard let failure = error.connectionErrors.first?.error else {
            self.init(network: NetworkErrorCode.hostNotFound, "no address is known for \(error.host)")
            return
        }
        self.init(failure, reaching: endpoint)
    }

    private init(network code: Int32, _ message: String) {
        var details = Details()
        details.networkErrorCode = code
        self.init(.networkUnavailable, UntrustedText.clean(message), details: details)
    }

    /// NIOSSL's own words hold the paths of the machine that built it.
    private static func reason(tls error: any Error) -> String {
        switch error {
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "its certificate is for another host"
        case _ where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "its certificate is not trusted"
        default:
            "the TLS handshake failed"
        }
    }

    private static func networkCode(errno: CInt) -> Int32 {
        switch errno {
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN: NetworkErrorCode.offline
        case ETIMEDOUT: NetworkErrorCode.timedOut
        case ECONNRESET, EPIPE: NetworkErrorCode.connectionLost
        default: NetworkErrorCode.cannotConnect
        }
    }
}

internal import CCurl
internal import Synchronization
internal import TokenModel

/// A request in progress, shared by the task that waits for the response and the thread that drives the transfer.
///
/// It ends once: with a response, with a failure, or when its task is cancelled. Nothing is sent after that.
final class CurlTransfer: Sendable {
    typealias Outcome = Result<CurlResponse, CurlFailure>

    private enum State {
        case created
        case awaited(CheckedContinuation<Void, Never>)
        case ended(Outcome)
    }

    let request: CurlRequest
    private let sending: @Sendable (CurlSending) -> Void
    private let state = Mutex(State.created)
    private let isSending = Atomic(false)

    init(_ request: CurlRequest, sending: @escaping @Sendable (CurlSending) -> Void) {
        self.request = request
        self.sending = sending
    }

    /// How the transfer has ended; nil before. The lock hands it over to the task that waits.
    var outcome: Outcome? {
        state.withLock { state in if case .ended(let outcome) = state { outcome } else { nil } }
    }

    /// Whether the request has a body, of which the server may have received something.
    var mayHaveSentBody: Bool { request.body != nil && isSending.load(ordering: .acquiring) }

    /// Resumes the continuation when the transfer ends, or at once if it has ended.
    func awaitEnd(_ continuation: CheckedContinuation<Void, Never>) {
        let hasEnded = state.withLock { state in
            if case .ended = state { return true }
            state = .awaited(continuation)
            return false
        }
        if hasEnded { continuation.resume() }
    }

    /// Ends the transfer; later calls have no effect.
    func end(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            switch state {
            case .ended: return nil
            case .created:
                state = .ended(outcome)
                return nil
            case .awaited(let continuation):
                state = .ended(outcome)
                return continuation
            }
        }
        continuation?.resume()
    }

    /// Called before the request is sent. Returns false after the end of the transfer, whose caller may know that nothing
    /// was sent.
    func beginSending() -> Bool {
        state.withLock { state in
            if case .ended = state { return false }
            isSending.store(true, ordering: .releasing)
            sending(.begins)
            return true
        }
    }

    /// Ends the transfer with libcurl's result.
    func end(_ result: ccurl_result) {
        state.withLock { state in
            if case .ended = state { return }
            if result.was_never_sent { sending(.neverSent) }
            if result.outcome != CCURL_ANSWERED, result.body_length > 0 { sending(.incomplete(CurlResponse(result))) }
        }
        end(Self.outcome(of: result))
    }

    private static func outcome(of result: ccurl_result) -> Outcome {
        if let failure = CurlTLSFailure(result.outcome) {
            return .failure(result.is_of_proxy ? .proxyTLS(failure) : .tls(failure))
        }
        return switch result.outcome {
        case CCURL_ANSWERED: .success(CurlResponse(result))
        case CCURL_TIMED_OUT: .failure(.timedOut)
        case CCURL_HOST_NOT_FOUND: .failure(.hostNotFound(isOffline: result.is_offline))
        case CCURL_PROXY_NOT_FOUND: .failure(.proxyNotFound(isOffline: result.is_offline))
        case CCURL_CANNOT_CONNECT: .failure(.cannotConnect(errno: result.system_error))
        case CCURL_CONNECTION_LOST: .failure(.connectionLost)
        case CCURL_PROXY_REFUSED: .failure(.proxyRefused(status: Int(result.status)))
        case CCURL_CA_FILE_UNUSABLE: .failure(.caFileUnusable)
        case CCURL_HEAD_TOO_LONG: .failure(.headTooLong)
        case CCURL_BODY_TOO_LONG: .failure(.bodyTooLong)
        case CCURL_NOT_HTTP: .failure(.notHTTP)
        case CCURL_CANCELLED: .failure(.cancelled)
        default: .failure(.other(result.text.map { String(cString: $0) } ?? "unknown"))
        }
    }
}

extension CurlTLSFailure {
    /// Returns nil for an outcome with another reason.
    fileprivate init?(_ outcome: ccurl_outcome) {
        switch outcome {
        case CCURL_UNTRUSTED: self = .untrusted
        case CCURL_OTHER_HOST: self = .otherHost
        case CCURL_OUT_OF_DATE: self = .outOfDate
        case CCURL_TLS_FAILED: self = .handshake
        default: return nil
        }
    }
}

extension CurlResponse {
    fileprivate init(_ result: ccurl_result) {
        self.init(
            status: Int(result.status),
            fields: Self.fields(UnsafeRawBufferPointer(start: result.head, count: result.head_length)),
            body: Secret(bytes: UnsafeRawBufferPointer(start: result.body, count: result.body_length)))
    }

    /// Parses the header fields, which libcurl has checked. Fields whose name is not ASCII (RFC 9110 section 5.1), or whose value
    /// cannot be compared in linear time, are dropped.
    private static func fields(_ head: UnsafeRawBufferPointer) -> [(name: String, value: String)] {
        head.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy({ $0 < 0x80 })
            else { return nil }
            let value = text(line[line.index(after: colon)...])
            guard !CombiningCharacters.areExcessive(in: value) else { return nil }
            return (name: String(decoding: line[..<colon], as: UTF8.self), value: value)
        }
    }

    /// The value without leading and trailing white space (RFC 9110 section 5.5).
    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let blank = Set(" \t\r".utf8)
        let front = bytes.drop { blank.contains($0) }
        let end = front.lastIndex { !blank.contains($0) }
        return String(decoding: end.map { front[...$0] } ?? front[front.endIndex...], as: UTF8.self)
    }
}

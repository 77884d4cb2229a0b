internal import CCurl
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The transfers and connections of libcurl that one thread drives.
final class CurlMulti: Sendable {
    // A C pointer is not Sendable. `wake` may be called on any thread; the engine calls everything else on its own thread.
    private nonisolated(unsafe) let handle: OpaquePointer

    /// Returns nil if there is no memory or no file descriptor left.
    init?(connectionsPerHost: Int, connections: Int) {
        guard let handle = ccurl_multi_create(connectionsPerHost, connections) else { return nil }
        self.handle = handle
    }

    deinit { ccurl_multi_destroy(handle) }

    /// Ends the current call of `wait`, or else the next one. May be called on any thread.
    func wake() { ccurl_multi_wake(handle) }

    /// Starts a transfer; nil if libcurl refuses it. The caller has to keep the transfer until `remove`.
    ///
    /// - Parameter readsAllAuthorities: whether the certificate authorities are read again, from the system's folder too.
    func add(
        _ transfer: CurlTransfer, emulatesOldLibrary: Bool, readsAllAuthorities: Bool
    ) -> OpaquePointer? {
        guard
            let pointer = transfer.request.makeTransfer(
                for: transfer, emulatesOldLibrary: emulatesOldLibrary, readsAllAuthorities: readsAllAuthorities)
        else {
            return nil
        }
        if ccurl_multi_add(handle, pointer) { return pointer }
        ccurl_transfer_destroy(pointer)
        return nil
    }

    /// Removes a transfer, aborts it if it has not ended, and wipes its memory.
    func remove(_ pointer: OpaquePointer) {
        ccurl_multi_remove(handle, pointer)
        ccurl_transfer_destroy(pointer)
    }

    /// Advances all transfers without waiting.
    func advance() { ccurl_multi_advance(handle) }

    /// A transfer that has ended and is still to be removed.
    func nextEnded() -> (OpaquePointer, ccurl_result)? {
        var result = ccurl_result()
        return ccurl_multi_next_ended(handle, &result).map { ($0, result) }
    }

    /// What has arrived of the response of a transfer that has not ended.
    func part(of pointer: OpaquePointer) -> ccurl_result { ccurl_transfer_part(pointer) }

    /// Waits until a transfer can be advanced, or for the duration.
    func wait(atMost duration: Duration) { ccurl_multi_wait(handle, Int32(clamping: duration.milliseconds)) }
}

extension Duration {
    /// The duration in milliseconds, rounded up so that a wait is never 0.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLong ? Int64(Int32.max) : whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

extension CurlRequest {
    /// Creates the transfer in C, which copies the request.
    fileprivate func makeTransfer(
        for transfer: CurlTransfer, emulatesOldLibrary: Bool, readsAllAuthorities: Bool
    ) -> OpaquePointer? {
        var request = ccurl_request()
        request.reads_all_authorities = readsAllAuthorities
        request.connect_timeout = Int(clamping: connectTimeout.milliseconds)
        // For all header fields of the response together.
        request.head_limit = 64 << 10
        request.body_limit = bodyLimit
        request.emulates_old_library = emulatesOldLibrary
        // The engine keeps the transfer until it has removed it.
        request.context = Unmanaged.passUnretained(transfer).toOpaque()
        request.may_send = { context in
            guard let context else { return false }
            return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().beginSending()
        }
        return withCStrings([url, proxy?.url, proxy?.user, caFile]) { texts in
            request.url = texts[0]
            request.proxy = texts[1]
            request.proxy_user = texts[2]
            request.ca_file = texts[3]
            return withCStrings(fields.map { "\($0.name): \($0.value)" }) { lines in
                request.fields = lines.baseAddress
                return withBytes(proxy?.password) { password in
                    request.proxy_password = password.baseAddress
                    request.proxy_password_length = password.count
                    return withBytes(body) { body in
                        request.body = body.baseAddress
                        request.body_length = body.count
                        return ccurl_transfer_create(&request)
                    }
                }
            }
        }
    }
}

/// Calls `body` with the texts as C strings, followed by a null pointer.
private func withCStrings<Result>(
    _ texts: [String?], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = texts.map { $0.flatMap { strdup($0) } } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer(body)
}

/// Calls `body` with the bytes of a secret, or with an empty buffer if there is none.
private func withBytes<Result>(_ secret: Secret?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    secret.map { $0.withBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
}

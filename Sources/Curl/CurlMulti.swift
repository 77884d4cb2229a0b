internal import CCurl
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// libcurl's transfers and connections of one thread.
final class CurlMulti: Sendable {
    // A C pointer is not Sendable. `wake` may be called on any thread; the engine calls everything else on its own thread.
    private nonisolated(unsafe) let handle: OpaquePointer

    /// Nil when there is no memory left.
    init?(connectionsPerHost: Int) {
        guard let handle = ccurl_multi_create(connectionsPerHost) else { return nil }
        self.handle = handle
    }

    deinit { ccurl_multi_destroy(handle) }

    /// Ends the wait that is going on, or else the next one. From any thread.
    func wake() { ccurl_multi_wake(handle) }

    /// Starts a transfer; nil if libcurl refuses it. The caller keeps the transfer until `remove`.
    func add(_ transfer: CurlTransfer, idle: Duration, emulatesOldLibrary: Bool) -> OpaquePointer? {
        guard
            let pointer = transfer.request.makeTransfer(
                for: transfer, idle: idle, emulatesOldLibrary: emulatesOldLibrary)
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

    /// Does what can be done without waiting.
    func advance() { ccurl_multi_advance(handle) }

    /// A transfer that has ended and is still to be removed.
    func nextEnded() -> (OpaquePointer, ccurl_result)? {
        var result = ccurl_result()
        return ccurl_multi_next_ended(handle, &result).map { ($0, result) }
    }

    /// Waits until there is something to do, or for the duration.
    func wait(atMost duration: Duration) { ccurl_multi_wait(handle, Int32(clamping: duration.milliseconds)) }
}

extension Duration {
    /// Rounded up, so that a wait is never a busy one.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        return isTooLong ? Int64(Int32.max) : whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}

extension CurlRequest {
    /// The same in C, which copies all of it.
    fileprivate func makeTransfer(for transfer: CurlTransfer, idle: Duration, emulatesOldLibrary: Bool)
        -> OpaquePointer?
    {
        var request = ccurl_request()
        request.connect_timeout = Int(clamping: connectTimeout.milliseconds)
        request.idle_limit = Int(clamping: max(idle.components.seconds, 1))
        request.head_limit = headLimit
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

/// Lends texts in C's form, and a null pointer behind the last.
private func withCStrings<Result>(
    _ texts: [String?], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    let copies = texts.map { $0.flatMap { strdup($0) } } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.map { UnsafePointer($0) }.withUnsafeBufferPointer(body)
}

/// Lends a secret's bytes; without a secret, no memory.
private func withBytes<Result>(_ secret: Secret?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    secret.map { $0.withBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
}

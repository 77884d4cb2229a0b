internal import TokenEndpoint
internal import TokenModel

/// Recent errors of token endpoints, which are returned again for a limited time without another request.
///
/// The rules are MSAL's, apart from the status 511. The error of an overloaded server (429, 5xx, or `Retry-After`) is returned for the time
/// of `Retry-After`, at most an hour, or for a minute without it. An error that only the user can resolve is returned for two minutes, or
/// until the next sign-in. The table is shared by all apps; `RedemptionKey` has the properties by which its records are found.
///
/// Used on the actor of `CacheOwner` only.
final class ThrottleTable {
    private struct Record {
        var error: TokenError
        /// The times at which the error is returned, in seconds since 1970. An earlier time shows that the clock was
        /// set back, so that the end is unknown.
        var times: Range<Int64>
        /// The length of the record's key, in bytes.
        let length: Int

        init(_ error: TokenError, of length: Int, from now: Int64, lifetime: Int64) {
            self.error = error
            self.length = length
            times = now..<now + lifetime
        }
    }

    /// The maximum number of records, as in MSAL; past it, the record that expires first is removed.
    private static let limit = 1000
    /// The maximum length of the keys of all records, in bytes; past it, the records that expire first are removed. A request has up to
    /// 64 KiB, and usual ones have a few hundred bytes.
    private static let lengthLimit = 1 << 20
    /// The maximum number of records with a token of the app, which may be long; past it, the record that expires first is removed.
    private static let limitWithTokens = 32
    /// The maximum size of the header fields of a recorded error, in bytes; of longer ones, only `Retry-After` is kept.
    private static let longestFields = 4096
    private static let overloadLifetime: Int64 = 60
    private static let longestOverload: Int64 = 3600
    private static let refusalLifetime: Int64 = 120

    private var overloads: [RedemptionKey.Target: Record] = [:]
    private var refusals: [RedemptionKey: Record] = [:]

    /// The recorded error to return without a request; nil if there is none or it has expired.
    func error(for key: RedemptionKey, at now: Int64) -> TokenError? {
        let record = [overloads[key.target], refusals[key]].compactMap(\.self).first { $0.times.contains(now) }
        guard let record else { return nil }
        var error = record.error
        error.append("; the server is not asked again for \(record.times.upperBound - now) s")
        error.details.isThrottled = true
        error.details.hasChangedCache = false
        return error
    }

    /// Records an error if it is to be throttled.
    ///
    /// - Returns: the error, with the time until which it is returned again.
    func record(_ error: TokenError, for key: RedemptionKey, at now: Int64) -> TokenError {
        var error = error
        let delay = error.retryAfter(now: now)
        if error.isOverload(asksToWait: delay != nil) {
            let lifetime = min(delay ?? Self.overloadLifetime, Self.longestOverload)
            error.details.throttledUntil = now + lifetime
            error.details.reason = .throttled
            let fields = error.details.httpHeaders
            if fields.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) > Self.longestFields {
                error.details.httpHeaders = fields.filter {
                    $0.key.lowercased() == "retry-after" && $0.value.utf8.count <= 64
                }
            }
            overloads[key.target] = Record(error, of: key.target.length, from: now, lifetime: lifetime)
            Self.removeExpired(&overloads, at: now)
        } else if error.needsUser {
            error.details.throttledUntil = now + Self.refusalLifetime
            refusals[key] = Record(error, of: key.length, from: now, lifetime: Self.refusalLifetime)
            Self.removeExpired(&refusals, at: now)
            removeSurplusTokens()
        }
        return error
    }

    /// Removes the errors that only the user can resolve, after a sign-in.
    func removeRefusals() { refusals = [:] }

    /// Removes the errors that contain an access token, since a token has been removed from the cache.
    func removeTokens() { refusals = refusals.filter { $0.value.error.details.partialResult == nil } }

    /// Removes every error.
    func removeAll() { (overloads, refusals) = ([:], [:]) }

    private func removeSurplusTokens() {
        let withTokens = refusals.filter { $0.value.error.details.partialResult != nil }
        guard withTokens.count > Self.limitWithTokens else { return }
        let first = withTokens.min { $0.value.times.upperBound < $1.value.times.upperBound }
        if let first { refusals[first.key] = nil }
    }

    /// Removes expired errors and, if there are too many or their keys are too long, those that expire first.
    private static func removeExpired<Key>(_ records: inout [Key: Record], at now: Int64) {
        // A copy of a full table hashes a thousand keys, so that none is made for nothing.
        if !records.values.allSatisfy({ $0.times.contains(now) }) {
            records = records.filter { $0.value.times.contains(now) }
        }
        var length = records.values.reduce(0) { $0 + $1.length }
        while records.count > limit || length > lengthLimit,
            let first = records.min(by: { $0.value.times.upperBound < $1.value.times.upperBound })
        {
            records[first.key] = nil
            length -= first.value.length
        }
    }
}

extension TokenError {
    fileprivate func isOverload(asksToWait: Bool) -> Bool {
        // The status 511 is a captive portal's, never the token endpoint's (RFC 6585 section 6): it ends when the user has signed in there.
        guard let status = details.httpStatus, status != 511 else { return false }
        return status == 429 || status >= 500 || asksToWait || code == .serverError
    }

    /// Whether the error persists until the user acts or the app changes its request.
    fileprivate var needsUser: Bool {
        switch code {
        // The token endpoint was not asked if it did not issue the refresh token. The next request reads the discovery document again.
        case .interactionRequired: details.reason != .authority
        case .declinedScopes, .protectionPolicyRequired: true
        default: details.oauthError != nil
        }
    }

    /// The delay that `Retry-After` asks for, in seconds (RFC 9110 section 10.2.3); nil if it is neither a number of seconds nor a date. A
    /// date is one of the server's clock, from which this machine's may differ.
    func retryAfter(now: Int64) -> Int64? {
        if let seconds = details.secondsToWait { return seconds }
        let sent = details.httpHeader("Date").flatMap(HTTPDate.secondsSince1970) ?? now
        return details.httpHeader("Retry-After").flatMap(HTTPDate.secondsSince1970).map { max($0 - sent, 0) }
    }
}

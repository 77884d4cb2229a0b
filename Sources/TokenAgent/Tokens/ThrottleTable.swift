internal import TokenEndpoint
internal import TokenModel

/// What the token endpoint lately refused and would refuse again, so that it is not asked again too soon.
///
/// As MSAL has it: a server that is overloaded (429, 5xx, or `Retry-After`) is left alone for as long as it says, else for a
/// minute; what only a person can settle is asked again after two minutes, or as soon as somebody has signed in.
/// One table serves all apps; a record is for one app, refresh token and scopes.
final class ThrottleTable {
    private struct Record {
        var error: TokenError
        var expiry: Int64
    }

    /// As many records as MSAL keeps; the one that would go first goes when there is one more.
    private static let limit = 1000
    private static let overloadLifetime: Int64 = 60
    private static let longestOverload: Int64 = 3600
    private static let refusalLifetime: Int64 = 120

    private var overloads: [RedemptionKey.Target: Record] = [:]
    private var refusals: [RedemptionKey: Record] = [:]

    /// The error to give without asking; nil when there is none to give any more.
    func error(for key: RedemptionKey, at now: Int64) -> TokenError? {
        let record = [overloads[key.target], refusals[key]].compactMap(\.self).first { $0.expiry > now }
        guard let record else { return nil }
        var error = record.error
        error.message += "; the server is not asked again for \(record.expiry - now) s"
        error.details.isThrottled = true
        return error
    }

    /// Remembers an error, if it is of a kind that stays true for a while.
    func note(_ error: TokenError, for key: RedemptionKey, at now: Int64) {
        if error.isOverload {
            let lifetime = min(error.retryAfter(now: now) ?? Self.overloadLifetime, Self.longestOverload)
            overloads[key.target] = Record(error: error, expiry: now + lifetime)
            Self.shorten(&overloads)
        } else if error.needsPerson {
            refusals[key] = Record(error: error, expiry: now + Self.refusalLifetime)
            Self.shorten(&refusals)
        }
    }

    /// A person signed in: what only a person could settle may be settled now.
    func noteSignIn() { refusals = [:] }

    private static func shorten<Key>(_ records: inout [Key: Record]) {
        guard records.count > limit, let first = records.min(by: { $0.value.expiry < $1.value.expiry }) else { return }
        records[first.key] = nil
    }
}

extension TokenError {
    fileprivate var isOverload: Bool {
        guard let status = details.httpStatus else { return false }
        return status == 429 || status >= 500 || retryAfterField != nil || code == .serverError
    }

    /// Whether only a person can do something about it, or a change of the app's request.
    fileprivate var needsPerson: Bool {
        switch code {
        case .interactionRequired, .declinedScopes, .protectionPolicyRequired: true
        default: details.oauthError != nil
        }
    }

    /// How long the server wishes to be left alone, in seconds (RFC 9110 section 10.2.3).
    fileprivate func retryAfter(now: Int64) -> Int64? {
        guard let field = retryAfterField else { return nil }
        if let seconds = Int64(field) { return max(seconds, 0) }
        return HTTPDate.secondsSince1970(field).map { max($0 - now, 0) }
    }

    private var retryAfterField: String? {
        details.httpHeaders.first { $0.key.lowercased() == "retry-after" }?.value
    }
}

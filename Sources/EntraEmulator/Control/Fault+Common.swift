extension Fault {
    /// An OAuth error at the token endpoint.
    package static func error(
        _ error: String, suberror: String? = nil, grant: Grant? = nil, count: Int = 1
    ) -> Fault {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.error = error
            $0.suberror = suberror
            $0.count = count
        }
    }

    /// A bare HTTP status at the token endpoint: 429 with `Retry-After`, 503, …
    package static func status(_ status: Int, retryAfter: Int? = nil, grant: Grant? = nil, count: Int = 1) -> Fault {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.status = status
            $0.retryAfter = retryAfter
            $0.count = count
        }
    }

    /// Keeps requests with this grant waiting until `release`.
    package static func hold(grant: Grant? = nil, count: Int = 1) -> Fault {
        Fault {
            $0.endpoint = .token
            $0.grant = grant
            $0.hold = true
            $0.count = count
        }
    }
}

/// Why a request failed: the only error that leaves one of this package's modules.
///
/// Branch on `code`; `message` is for people and logs, may change, and never holds a secret.
public struct TokenError: Error, Sendable, Equatable {
    /// What went wrong, as a stable number.
    public var code: Code
    /// One sentence for a log or a person, with what to do where there is something to do.
    public var message: String
    /// What else is known, for the edges' `userInfo`.
    public var details: Details

    /// An error with nothing more to say than `message`.
    public init(_ code: Code, _ message: String, details: Details = Details()) {
        self.code = code
        self.message = message
        self.details = details
    }

    /// What else is known about a failure; every member is absent unless it applies.
    public struct Details: Sendable, Equatable {
        /// The `error` of an OAuth error response (RFC 6749 section 5.2).
        public var oauthError: String?
        /// The `suberror` of an Entra error response.
        public var subError: String?
        /// The `error_description` of an OAuth error response.
        public var errorDescription: String?
        /// The `error_codes` of an Entra error response.
        public var stsErrorCodes: [Int32] = []
        /// The HTTP status of a response that was not a token response.
        public var httpStatus: Int32?
        /// That response's header fields, by name as received.
        public var httpHeaders: [String: String] = [:]
        /// The `NSURLErrorDomain` code that fits a network failure, such as -1009.
        public var networkErrorCode: Int32?
        /// The operation that failed.
        public var correlationID: CorrelationID?
        /// The scopes granted, when fewer than asked for; without the reserved ones.
        public var grantedScopes: [String] = []
        /// The scopes asked for and not granted.
        public var declinedScopes: [String] = []
        /// The account concerned.
        public var homeAccountID: HomeAccountID?
        /// The account's name as people know it.
        public var username: String?
        /// Whether a throttling record answered instead of the token endpoint.
        public var isThrottled = false
        /// What was granted when scopes were declined.
        public var partialResult: TokenResult?

        /// Nothing known.
        public init() {}
    }
}

extension TokenError: CustomStringConvertible {
    /// The code's name and number, then the message.
    public var description: String { "\(code.name) (\(code.number)): \(message)" }
}

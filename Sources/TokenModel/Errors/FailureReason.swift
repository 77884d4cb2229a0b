extension TokenError {
    /// What does not fit, or what failed: the part of a request or of its surroundings that has to change before the request can succeed.
    @nonexhaustive public enum Reason: Int32, Sendable, CaseIterable {
        /// The app: its client ID is refused, or nobody is signed in to it.
        case app = 1
        /// The account: it is unknown, not signed in to the app, ambiguous, or another one than requested.
        case account = 2
        /// The authority: it is unknown, of the wrong kind, or not the account's.
        case authority = 3
        /// The scopes or the resource: they are invalid, or not all of them were granted.
        case scope = 4
        /// Another part of the request is invalid.
        case request = 5
        /// The identity provider has refused, or its response is of no use.
        case provider = 6
        /// The network: the identity provider cannot be reached.
        case network = 7
        /// The identity provider is overloaded, and is not asked before `throttledUntil`.
        case throttled = 8
        /// The user has cancelled, or is signing in elsewhere.
        case user = 9
        /// The agent's store is locked.
        case locked = 10
        /// The agent's store cannot be read or written.
        case store = 11
        /// The agent's access policy.
        case policy = 12
        /// The agent: it is not running, belongs to another user, is too old, or has a defect.
        case agent = 13

        /// The name in JSON output.
        public var name: String { "\(self)" }
    }

    /// What does not fit: as the agent has found out, or else as the code says. Nil if that is not known.
    public var reason: Reason? {
        if let reason = details.reason { return reason }
        return code == .interactionRequired && details.oauthError != nil ? .provider : Self.reason(of: code)
    }

    /// Creates an error of which more is known than its code says.
    package init(_ code: Code, _ message: String, reason: Reason) {
        var details = Details()
        details.reason = reason
        self.init(code, message, details: details)
    }

    /// The same error, with its reason among the details, for apps that do not know the code.
    package var withReason: TokenError {
        guard details.reason == nil, let reason else { return self }
        var error = self
        error.details.reason = reason
        return error
    }

    /// What usually does not fit if a request fails with a code.
    private static func reason(of code: Code) -> Reason? {
        switch code {
        case .invalidClient, .unauthorizedClient: .app
        case .accountRequired, .mismatchedAccount, .ambiguousAccount, .accountNotFound, .interactionRequired: .account
        case .authorityValidation: .authority
        case .invalidScope, .declinedScopes: .scope
        case .invalidDeveloperParameter, .unsupportedFunctionality, .cacheBadFormat, .invalidRequest, .malformedMessage,
            .frameTooLarge:
            .request
        case .serverOAuth, .serverInvalidResponse, .refreshTokenRejected, .invalidGrant, .serverError, .invalidState,
            .protectionPolicyRequired, .authorizationFailed, .unhandledHTTPResponse, .workplaceJoinRequired:
            .provider
        case .networkUnavailable: .network
        case .accessDenied, .userCanceled, .sessionCanceled, .interactionInProgress: .user
        case .storeUnavailable: .store
        case .requestDenied: .policy
        case .internalError, .unsupportedProtocolVersion, .agentUnavailable, .peerNotAuthorized: .agent
        case .timedOut, .cancelled, .unrecognized: nil
        }
    }
}

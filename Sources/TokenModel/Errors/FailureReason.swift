extension TokenError {
    /// The part of a request, or of its surroundings, that caused a failure.
    @nonexhaustive public enum Reason: Int32, Sendable, CaseIterable {
        /// The app: its client ID is refused, or nobody is signed in to it.
        case app = 1
        /// The account: it is unknown, not signed in to the app, ambiguous, or another one than requested.
        case account = 2
        /// The authority: it is unknown, or not that of the account's tokens.
        case authority = 3
        /// The scopes or the resource.
        case scope = 4
        /// Another part of the request.
        case request = 5
        /// The identity provider has refused, or its response is of no use.
        case provider = 6
        /// The identity provider cannot be reached.
        case network = 7
        /// The identity provider is overloaded; `throttledUntil` says when it is asked again.
        case throttled = 8
        /// The user has cancelled, or has another sign-in in progress.
        case user = 9
        /// The store is locked.
        case locked = 10
        /// The store cannot be read or written.
        case store = 11
        /// The access policy, or the limits of a published socket.
        case policy = 12
        /// The agent, or its version.
        case agent = 13

        /// The name in JSON output.
        public var name: String { "\(self)" }
    }

    /// The part that caused the failure: as the agent has found out, or else as the code says. Nil if that is not known.
    public var reason: Reason? {
        if let reason = details.reason { return reason }
        // Entra has one name for a user who declines and for a policy of the tenant.
        if code == .accessDenied, details.oauthError != nil, ProviderRefusal(details) != .declined { return .provider }
        return details.oauthError != nil && Self.codesOfProviders.contains(code) ? .provider : Self.reason(of: code)
    }

    /// Creates an error with a reason that is more precise than its code.
    package init(_ code: Code, _ message: String, reason: Reason) {
        var details = Details()
        details.reason = reason
        self.init(code, message, details: details)
    }

    /// The same error as it is sent: with its reason, for apps that do not know the code, and with the command that finds out more
    /// of a store that cannot be used.
    package var forApps: TokenError {
        var error = self
        error.details.reason = reason
        return code == .storeUnavailable && !details.saysRemedyInWords ? error.suggesting("ssoctl doctor") : error
    }

    /// The same error as it is sent to a peer of a published socket: the command that opens the store, or mends it, has to be run where the
    /// agent runs, whose processes and files the peer may not have.
    package var forPublishedPeers: TokenError {
        let error = forApps
        guard code == .storeUnavailable, let command = error.details.nextCommand else { return error }
        var other = TokenError(code, error.statement, details: error.details)
        other.details.nextCommand = nil
        other.append("; \(Self.ruleOfPublishedSockets): \(command)")
        return other
    }

    /// What is said about a request, or a command, that a published socket does not serve.
    package static let ruleOfPublishedSockets = "a published socket gives tokens only; run this where the agent runs"

    /// The codes that have more than one cause: with an OAuth error, it is the identity provider's.
    private static let codesOfProviders: Set<Code> = [.interactionRequired, .authorizationFailed]

    /// The part that usually causes a failure with a code.
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
            .protectionPolicyRequired, .unhandledHTTPResponse, .workplaceJoinRequired:
            .provider
        case .networkUnavailable: .network
        case .accessDenied, .userCanceled, .sessionCanceled, .interactionInProgress: .user
        case .storeUnavailable: .store
        case .requestDenied: .policy
        case .internalError, .unsupportedProtocolVersion, .agentUnavailable, .peerNotAuthorized: .agent
        case .authorizationFailed, .timedOut, .cancelled, .unrecognized: nil
        }
    }
}

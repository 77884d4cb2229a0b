/// Start an interactive sign-in: the agent listens on a loopback redirect and says which page to open.
///
/// Authorization code with PKCE (RFC 6749 section 4.1, RFC 7636, RFC 8252 section 7.3).
/// Answered with `BeginInteractive.Reply`; then open the page and send `CompleteInteractive`.
/// PROTOCOL.md, "begin_interactive".
public struct BeginInteractive: Sendable, Equatable {
    /// Which app asks, for what, from whom.
    public var parameters: TokenParameters
    /// Who has to sign in: another home account ID in the answer is `mismatchedAccount` (-51117).
    public var account: AccountReference
    /// The `prompt` parameter, such as `login` or `select_account`; nil sends none.
    public var prompt: String?
    /// The `login_hint` parameter.
    public var loginHint: String?
    /// The `domain_hint` parameter.
    public var domainHint: String?
    /// Scopes to consent to now and ask for later.
    public var extraScopes: ScopeSet

    /// A sign-in with no wishes beyond `parameters`.
    public init(
        parameters: TokenParameters, account: AccountReference = AccountReference(), prompt: String? = nil,
        loginHint: String? = nil, domainHint: String? = nil, extraScopes: ScopeSet = ScopeSet([])
    ) {
        self.parameters = parameters
        self.account = account
        self.prompt = prompt
        self.loginHint = loginHint
        self.domainHint = domainHint
        self.extraScopes = extraScopes
    }

    /// Where to send the user.
    public struct Reply: Sendable, Equatable {
        /// Names the sign-in in `CompleteInteractive` and `CancelInteraction`.
        public var sessionID: String
        /// The page to open in a browser.
        public var authorizationURL: String
        /// Where the agent waits for the browser to come back.
        public var redirectURI: String
        /// How long it waits, in seconds.
        public var expiresIn: Int64

        /// A reply with these members.
        public init(sessionID: String, authorizationURL: String, redirectURI: String, expiresIn: Int64) {
            self.sessionID = sessionID
            self.authorizationURL = authorizationURL
            self.redirectURI = redirectURI
            self.expiresIn = expiresIn
        }
    }
}

/// Wait for the user to come back from the browser. Answered with a `TokenResult`.
///
/// PROTOCOL.md, "complete_interactive".
public struct CompleteInteractive: Sendable, Equatable {
    /// The sign-in that `BeginInteractive` started.
    public var sessionID: String
    /// The redirect's full URL, where the app caught it itself; nil waits for the agent's own listener.
    public var responseURL: String?

    /// A wait for `sessionID`.
    public init(sessionID: String, responseURL: String? = nil) {
        self.sessionID = sessionID
        self.responseURL = responseURL
    }
}

/// Give up a sign-in; its `CompleteInteractive` or `CompleteDeviceCode` fails with `sessionCanceled` (-51701).
///
/// Answered with nothing, also when there is no such sign-in. PROTOCOL.md, "cancel_interaction".
public struct CancelInteraction: Sendable, Equatable {
    /// The sign-in.
    public var sessionID: String

    /// A cancellation of `sessionID`.
    public init(sessionID: String) {
        self.sessionID = sessionID
    }
}

extension BeginInteractive: AgentRequest {
    package static let number: UInt32 = 12
    package var isRepeatable: Bool { false }
    package var tokenParameters: TokenParameters? { parameters }
}

extension CompleteInteractive: AgentRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 13
    package var isRepeatable: Bool { false }
}

extension CancelInteraction: AgentRequest {
    package static let number: UInt32 = 16

    /// The agent has nothing to say.
    package struct Reply: Sendable, Equatable {
        package init() {}
    }
}

/// Starts a sign-in in a browser: the agent listens on a loopback redirect URI and returns the page to open.
///
/// Authorization code with PKCE (RFC 6749 section 4.1, RFC 7636, RFC 8252 section 7.3). The reply is
/// `BeginInteractive.Reply`; the app then opens the page and sends `CompleteInteractive`. PROTOCOL.md, "begin_interactive".
public struct BeginInteractive: Sendable, Equatable {
    /// The app, the scopes and the authority.
    public var parameters: TokenParameters
    /// The account that has to sign in; another one fails with `mismatchedAccount` (-51117). A user of the same home tenant with the same
    /// username counts as the same, as one who was deleted and created again. An empty reference allows any.
    public var account: AccountReference
    /// The `prompt` parameter, such as `login` or `select_account`; nil sends none. If `account` has an identifier, and has signed out of
    /// the app, `login` is sent instead of any other than `consent`.
    public var prompt: String?
    /// The `login_hint` parameter; nil sends none.
    public var loginHint: String?
    /// The `domain_hint` parameter; nil sends none.
    public var domainHint: String?
    /// Further scopes for which the user is asked for consent, but which are not requested.
    public var extraScopes: ScopeSet

    /// Creates the request.
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

    /// Whether nobody may be asked anything: the `prompt` has `none`. A device code has to be entered, so that it is no way to sign in then.
    package var asksNobody: Bool { prompt?.split(separator: " ").contains("none") ?? false }

    /// The page to open, and the redirect URI.
    public struct Reply: Sendable, Equatable {
        /// The identifier of the sign-in, for `CompleteInteractive` and `CancelInteraction`.
        public var sessionID: String
        /// The page to open in a browser. It has the `state` of the sign-in, which must not be in the arguments of a process;
        /// see `launchURL`.
        public var authorizationURL: String
        /// The redirect URI on which the agent listens.
        public var redirectURI: String
        /// The time within which the redirect has to arrive, in seconds.
        public var expiresIn: Int64
        /// A URL of the agent's listener that redirects the browser to `authorizationURL`, for processes of this user only. It
        /// can be in the arguments of a process, which other users can see. nil if the agent has none.
        public var launchURL: String?

        /// A reply with these members.
        public init(
            sessionID: String, authorizationURL: String, redirectURI: String, expiresIn: Int64, launchURL: String? = nil
        ) {
            self.sessionID = sessionID
            self.authorizationURL = authorizationURL
            self.redirectURI = redirectURI
            self.expiresIn = expiresIn
            self.launchURL = launchURL
        }
    }
}

/// Waits for the end of the sign-in in the browser. The reply is a `TokenResult`.
///
/// PROTOCOL.md, "complete_interactive".
public struct CompleteInteractive: Sendable, Equatable {
    /// The identifier of the sign-in, from `BeginInteractive.Reply`.
    public var sessionID: String
    /// The full URL of the redirect if the app has received it; nil if the agent listens for it.
    public var responseURL: String?

    /// Creates the request.
    public init(sessionID: String, responseURL: String? = nil) {
        self.sessionID = sessionID
        self.responseURL = responseURL
    }
}

/// Cancels a sign-in; its `CompleteInteractive` or `CompleteDeviceCode` fails with `sessionCanceled` (-51701), unless the response has
/// arrived already.
///
/// The reply is empty, also if there is no such sign-in. PROTOCOL.md, "cancel_interaction".
public struct CancelInteraction: Sendable, Equatable {
    /// The identifier of the sign-in.
    public var sessionID: String

    /// Creates the request.
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

    /// An empty reply.
    package struct Reply: Sendable, Equatable {
        package init() {}
    }
}

/// Starts a sign-in on another device (RFC 8628). The reply is `BeginDeviceCode.Reply`.
///
/// PROTOCOL.md, "begin_device_code".
public struct BeginDeviceCode: Sendable, Equatable {
    /// The app, the scopes and the authority.
    public var parameters: TokenParameters
    /// The account that has to sign in; another one fails with `mismatchedAccount` (-51117). A user of the same home tenant with the same
    /// username counts as the same, as one who was deleted and created again. An empty reference allows any.
    public var account: AccountReference

    /// Creates the request.
    public init(parameters: TokenParameters, account: AccountReference = AccountReference()) {
        self.parameters = parameters
        self.account = account
    }

    /// The code and the instructions for the user.
    public struct Reply: Sendable, Equatable {
        /// The identifier of the sign-in, for `CompleteDeviceCode` and `CancelInteraction`.
        public var sessionID: String
        /// The code that the user enters: ASCII letters, digits and hyphens, 16 at most.
        public var userCode: String
        /// The page on which the user enters the code.
        public var verificationURL: String
        /// A sentence for the user with the page and the code: Microsoft's, or that of a provider on this machine, if it sent one, else the
        /// agent's own.
        public var message: String
        /// The lifetime of the code, in seconds; at most an hour.
        public var expiresIn: Int64

        /// A reply with these members.
        public init(sessionID: String, userCode: String, verificationURL: String, message: String, expiresIn: Int64) {
            self.sessionID = sessionID
            self.userCode = userCode
            self.verificationURL = verificationURL
            self.message = message
            self.expiresIn = expiresIn
        }
    }
}

/// Waits for the end of the sign-in on the other device. The reply is a `TokenResult`.
///
/// PROTOCOL.md, "complete_device_code".
public struct CompleteDeviceCode: Sendable, Equatable {
    /// The identifier of the sign-in, from `BeginDeviceCode.Reply`.
    public var sessionID: String

    /// Creates the request.
    public init(sessionID: String) {
        self.sessionID = sessionID
    }
}

extension BeginDeviceCode: AgentRequest {
    package static let number: UInt32 = 14
    package var isRepeatable: Bool { false }
    package var tokenParameters: TokenParameters? { parameters }
}

extension CompleteDeviceCode: AgentRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 15
    package var isRepeatable: Bool { false }
}

/// Acquires an access token without user interaction: from the cache, or by redeeming a refresh token.
///
/// The reply is a `TokenResult`. PROTOCOL.md, "acquire_token_silent".
public struct AcquireTokenSilent: Sendable, Equatable {
    /// The app, the scopes and the authority.
    public var parameters: TokenParameters
    /// The account; an empty reference is the only account that is signed in, as in ADAL, and fails if there is not exactly
    /// one.
    public var account: AccountReference
    /// Whether to refresh the access token even if a cached one is valid.
    public var forceRefresh: Bool
    /// The time before its expiry from which on a token counts as expired, 0 to 4,294,967,295 seconds; with another value the request fails
    /// with `malformedMessage` (-53001). The default of 300 seconds is at most half of the lifetime of an OpenID provider's token.
    public var expirationBuffer: Int64
    /// Whether an expired token may be returned in an outage, during its extended lifetime.
    public var allowsExtendedLifetime: Bool
    /// Whether the reply may contain an ID token once that is in several places of the result. Apps with this version of the SDK restore
    /// the other places; earlier ones do not set this.
    package var acceptsSingleIDToken = true
    /// Whether the result should say until when it may be kept; see `TokenResult.freshness`.
    package var wantsFreshness = false

    /// Creates the request, by default with the values of Microsoft's libraries.
    public init(
        parameters: TokenParameters, account: AccountReference, forceRefresh: Bool = false,
        expirationBuffer: Int64 = 300, allowsExtendedLifetime: Bool = false
    ) {
        self.parameters = parameters
        self.account = account
        self.forceRefresh = forceRefresh
        self.expirationBuffer = expirationBuffer
        self.allowsExtendedLifetime = allowsExtendedLifetime
    }
}

extension AcquireTokenSilent: ConfinableRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 11
    package var tokenParameters: TokenParameters? { parameters }
    package var isConfined: Bool {
        get { parameters.isConfined }
        set { parameters.isConfined = newValue }
    }
    package var withoutFreshness: AcquireTokenSilent? {
        guard wantsFreshness else { return nil }
        var request = self
        request.wantsFreshness = false
        return request
    }
}

/// Redeems a grant of the app, whatever the cache has, and saves the tokens. The reply is a `TokenResult`.
///
/// The account is signed in afterwards. PROTOCOL.md, "redeem_grant".
public struct RedeemGrant: Sendable, Equatable {
    /// The kind of a grant.
    @nonexhaustive public enum Kind: Int32, Sendable, CaseIterable {
        /// A refresh token that the app acquired without the agent (RFC 6749 section 6).
        case refreshToken = 1
        /// A SAML 1.1 assertion.
        case saml11 = 2
        /// A SAML 2.0 assertion (RFC 7522).
        case saml2 = 3
    }

    /// The app, the scopes and the authority.
    public var parameters: TokenParameters
    /// The kind of `grant`.
    public var kind: Kind
    /// The refresh token, or the assertion's XML; not empty.
    public var grant: Secret
    /// The account that the app expects; another account in the response is not an error.
    public var account: AccountReference

    /// Creates the request.
    public init(
        parameters: TokenParameters, kind: Kind, grant: Secret, account: AccountReference = AccountReference()
    ) {
        self.parameters = parameters
        self.kind = kind
        self.grant = grant
        self.account = account
    }
}

extension RedeemGrant: AgentRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 23
    package var isRepeatable: Bool { false }
    package var purpose: String? { "sign in with a refresh token or an assertion" }
    package var tokenParameters: TokenParameters? { parameters }
}

/// Ask for an access token without bothering anyone: from the cache, or by redeeming a refresh token.
///
/// Answered with a `TokenResult`. PROTOCOL.md, "acquire_token_silent".
public struct AcquireTokenSilent: Sendable, Equatable {
    /// Which app asks, for what, from whom.
    public var parameters: TokenParameters
    /// Whose token; an empty reference is ADAL's "whoever is signed in", and fails when that is not one account.
    public var account: AccountReference
    /// Whether to pass over a cached access token.
    public var forceRefresh: Bool
    /// How long before its expiry a token counts as expired, in seconds.
    public var expirationBuffer: Int64
    /// Whether an expired token may be returned in an outage, within its extended lifetime.
    public var allowsExtendedLifetime: Bool

    /// A request with the libraries' defaults: no forced refresh, a buffer of 300 seconds, no extended lifetime.
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

extension AcquireTokenSilent: AgentRequest {
    package typealias Reply = TokenResult
    package static let number: UInt32 = 11
    package var tokenParameters: TokenParameters? { parameters }
}

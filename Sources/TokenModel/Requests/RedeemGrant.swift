/// Trade a grant that the app holds for tokens, past the cache, and save what comes back. Answered with a `TokenResult`.
///
/// It counts as a sign-in. PROTOCOL.md, "redeem_grant".
public struct RedeemGrant: Sendable, Equatable {
    /// What kinds of grant an app may hold.
    public enum Kind: Int32, Sendable, CaseIterable {
        /// A refresh token from before the agent (RFC 6749 section 6).
        case refreshToken = 1
        /// A SAML 1.1 assertion.
        case saml11 = 2
        /// A SAML 2.0 assertion (RFC 7522).
        case saml2 = 3
    }

    /// Which app asks, for what, from whom.
    public var parameters: TokenParameters
    /// What `grant` is.
    public var kind: Kind
    /// The refresh token, or the assertion's XML.
    public var grant: Secret
    /// Whose grant the app takes it for; another account in the answer is not an error.
    public var account: AccountReference

    /// A redemption of `grant`.
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
    package var tokenParameters: TokenParameters? { parameters }
}

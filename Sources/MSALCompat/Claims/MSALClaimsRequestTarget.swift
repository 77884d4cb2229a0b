/// Which token a claim is asked for in.
@nonexhaustive(warn) public enum MSALClaimsRequestTarget: UInt, Sendable {
    /// The ID token.
    case idToken = 0
    /// The access token.
    case accessToken = 1
}

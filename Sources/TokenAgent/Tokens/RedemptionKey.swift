internal import TokenCache
internal import TokenModel

/// The properties that requests have in common if they share a redemption; the peer and its time-out are not among
/// them. Texts that the token endpoint gets as the app has written them are compared by their bytes.
struct RedemptionKey: Hashable {
    /// The properties by which an overloaded token endpoint is throttled.
    struct Target: Hashable {
        /// The fingerprint of the refresh token, since errors are kept longer than the token.
        let refreshToken: String
        /// Case matters for some providers, here and in the scopes.
        let clientID: ExactText
        let authority: Authority
        let scopes: Set<ExactText>

        /// The length of what the app has named, in bytes.
        var length: Int { scopes.reduce(0) { $0 + $1.text.utf8.count } }
    }

    let target: Target
    /// The refresh tokens that are tried if the first is refused, of which a confined request has fewer.
    private let others: [String]
    /// With a wrong one, the token endpoint refuses the refresh token.
    private let redirectURI: ExactText?
    private let group: SharingGroup
    private let version: OAuthVersion
    /// Without the validation, an app uses an authority that is refused to others.
    private let validatesAuthority: Bool
    private let claims: ExactText?
    private let capabilities: [ExactText]
    private let extraParameters: [ExactText: ExactText]

    /// The length of what the app has named, in bytes.
    var length: Int {
        let parameters = extraParameters.flatMap { [$0.key, $0.value] }
        let texts = [redirectURI, claims].compactMap(\.self) + capabilities + parameters
        return texts.reduce(target.length) { $0 + $1.text.utf8.count }
    }

    /// Returns nil if the plan has no refresh token.
    init?(_ plan: RedemptionPlan, _ parameters: TokenParameters) {
        guard let first = plan.candidates.first else { return nil }
        target = Target(
            refreshToken: Fingerprint.of(first.secret), clientID: ExactText(parameters.clientID.text),
            authority: plan.authority, scopes: Set(parameters.scopes.scopes.map(ExactText.init)))
        others = plan.candidates.dropFirst().map { Fingerprint.of($0.secret) }
        redirectURI = parameters.redirectURI.map(ExactText.init)
        group = parameters.sharingGroup
        version = parameters.version
        validatesAuthority = parameters.validatesAuthority
        claims = parameters.claims.map(ExactText.init)
        capabilities = parameters.capabilities.map(ExactText.init)
        extraParameters = Dictionary(
            uniqueKeysWithValues: parameters.extraParameters.map { (ExactText($0), ExactText($1)) })
    }
}

internal import TokenCache
internal import TokenModel

/// What makes two redemptions the same: never who asks or how long they will wait.
struct RedemptionKey: Hashable {
    /// What a token endpoint that is overloaded counts by.
    struct Target: Hashable {
        let refreshToken: Secret
        let clientID: ClientID
        let authority: Authority
        let scopes: ScopeSet
    }

    let target: Target
    private let group: SharingGroup
    private let version: OAuthVersion
    private let claims: String?
    private let capabilities: [String]
    private let extraParameters: [String: String]

    init?(_ plan: RedemptionPlan, _ parameters: TokenParameters) {
        guard let first = plan.candidates.first else { return nil }
        target = Target(
            refreshToken: first.secret, clientID: parameters.clientID, authority: plan.authority,
            scopes: parameters.scopes)
        group = parameters.sharingGroup
        version = parameters.version
        claims = parameters.claims
        capabilities = parameters.capabilities
        extraParameters = parameters.extraParameters
    }
}

internal import TokenCache
internal import TokenModel

/// What makes two redemptions the same: never who asks or how long they will wait.
struct RedemptionKey: Hashable {
    private let refreshToken: Secret
    private let group: SharingGroup
    private let clientID: ClientID
    private let authority: Authority
    private let version: OAuthVersion
    private let scopes: ScopeSet
    private let claims: String?
    private let capabilities: [String]
    private let extraParameters: [String: String]

    init?(_ plan: RedemptionPlan, _ parameters: TokenParameters) {
        guard let first = plan.candidates.first else { return nil }
        refreshToken = first.secret
        group = parameters.sharingGroup
        clientID = parameters.clientID
        authority = plan.authority
        version = parameters.version
        scopes = parameters.scopes
        claims = parameters.claims
        capabilities = parameters.capabilities
        extraParameters = parameters.extraParameters
    }
}

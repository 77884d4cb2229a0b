internal import TokenModel

/// What a discovery document is remembered under.
struct DiscoveryKey: Hashable, Sendable {
    var authority: Authority
    var version: OAuthVersion
}

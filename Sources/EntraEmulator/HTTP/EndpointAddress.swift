/// A path, understood: which authority, which endpoint, in which generation of the protocol.
struct EndpointAddress: Sendable {
    var authority: RequestedAuthority
    var endpoint: Endpoint
    var version: ProtocolVersion

    /// How the paths of the endpoints end. Longer ends come first: `v2.0` paths end like v1 paths too.
    private static let ends: [(segments: [String], endpoint: Endpoint, version: ProtocolVersion)] = [
        (["oauth2", "v2.0", "authorize"], .authorize, .v2),
        (["oauth2", "v2.0", "token"], .token, .v2),
        (["oauth2", "v2.0", "devicecode"], .deviceCode, .v2),
        (["oauth2", "v2.0", "logout"], .logout, .v2),
        (["v2.0", ".well-known", "openid-configuration"], .openIDConfiguration, .v2),
        (["discovery", "v2.0", "keys"], .keys, .v2),
        (["oauth2", "authorize"], .authorize, .v1),
        (["oauth2", "token"], .token, .v1),
        (["oauth2", "devicecode"], .deviceCode, .v1),
        (["oauth2", "logout"], .logout, .v1),
        ([".well-known", "openid-configuration"], .openIDConfiguration, .v1),
        (["discovery", "keys"], .keys, .v1),
        (["discovery", "instance"], .instanceDiscovery, .v2),
    ]

    /// The paths of a provider that shares nothing with Entra's.
    private static let openIDEnds: [(segments: [String], endpoint: Endpoint)] = [
        ([".well-known", "openid-configuration"], .openIDConfiguration), (["authorize"], .authorize),
        (["token"], .token), (["devicecode"], .deviceCode), (["logout"], .logout), (["keys"], .keys),
    ]

    /// - Parameter policy: B2C also takes its user flow from the query, as `p`.
    init?(path: String, policy: String?) {
        let segments = path.split(separator: "/").map(String.init)
        switch segments.map({ $0.lowercased() }) {
        case ["devicelogin"]: self.init(authority: .common, endpoint: .deviceLogin, version: .v2)
        case ["oidc", "userinfo"]: self.init(authority: .common, endpoint: .userInfo, version: .v2)
        case [".well-known", "webfinger"]: self.init(authority: .common, endpoint: .webFinger, version: .v2)
        case let lowered where lowered.suffix(2) == ["enrollmentserver", "contract"] && lowered.count <= 3:
            self.init(authority: .common, endpoint: .enrollment, version: .v2)
        case let lowered where lowered.first == "openid":
            guard lowered.count > 2, let end = Self.openIDEnds.first(where: { lowered[2...] == $0.segments[...] })
            else { return nil }
            self.init(
                authority: RequestedAuthority(kind: .openID, realm: segments[1]), endpoint: end.endpoint, version: .v2)
        case let lowered:
            guard let end = Self.ends.first(where: { lowered.suffix($0.segments.count) == $0.segments[...] }),
                let authority = RequestedAuthority(
                    segments: Array(segments.dropLast(end.segments.count)), policy: policy)
            else { return nil }
            self.init(authority: authority, endpoint: end.endpoint, version: end.version)
        }
    }

    private init(authority: RequestedAuthority, endpoint: Endpoint, version: ProtocolVersion) {
        self.authority = authority
        self.endpoint = endpoint
        self.version = version
    }
}

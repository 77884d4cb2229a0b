/// The authority, the endpoint and the protocol version that a path addresses.
struct EndpointAddress: Sendable {
    var authority: RequestedAuthority
    var endpoint: Endpoint
    var version: ProtocolVersion

    /// The last segments of the endpoints' paths. Longer ones come first, since some v2.0 paths end as v1 paths do.
    private static let ends: [(segments: [String], endpoint: Endpoint, version: ProtocolVersion)] = [
        (["oauth2", "v2.0", "authorize"], .authorize, .v2),
        (["oauth2", "v2.0", "par"], .pushedRequest, .v2),
        (["oauth2", "v2.0", "token"], .token, .v2),
        (["oauth2", "v2.0", "devicecode"], .deviceCode, .v2),
        (["oauth2", "v2.0", "logout"], .logout, .v2),
        (["v2.0", ".well-known", "openid-configuration"], .openIDConfiguration, .v2),
        (["discovery", "v2.0", "keys"], .keys, .v2),
        (["oauth2", "authorize"], .authorize, .v1),
        (["oauth2", "par"], .pushedRequest, .v1),
        (["oauth2", "token"], .token, .v1),
        (["oauth2", "devicecode"], .deviceCode, .v1),
        (["oauth2", "logout"], .logout, .v1),
        ([".well-known", "openid-configuration"], .openIDConfiguration, .v1),
        (["discovery", "keys"], .keys, .v1),
        (["discovery", "instance"], .instanceDiscovery, .v2),
    ]

    /// The last segments of the paths of an OpenID provider that is not Entra.
    private static let openIDEnds: [(segments: [String], endpoint: Endpoint)] = [
        ([".well-known", "openid-configuration"], .openIDConfiguration), (["authorize"], .authorize),
        (["par"], .pushedRequest), (["token"], .token), (["devicecode"], .deviceCode), (["logout"], .logout),
        (["keys"], .keys),
    ]

    /// Parses a path; nil if no endpoint has it.
    ///
    /// - Parameter policy: the B2C user flow from the query parameter `p`.
    init?(path: String, policy: String?) {
        let segments = path.split(separator: "/").map(String.init)
        switch segments.map({ $0.lowercased() }) {
        case ["devicelogin"]: self.init(authority: .common, endpoint: .deviceLogin, version: .v2)
        case ["oidc", "userinfo"]: self.init(authority: .common, endpoint: .userInfo, version: .v2)
        case ["v1.0", "me"]: self.init(authority: .common, endpoint: .graph, version: .v2)
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

/// An emulated endpoint, independent of authority and protocol version.
package enum Endpoint: String, Codable, Sendable {
    case authorize
    /// The pushed authorization request endpoint (RFC 9126).
    case pushedRequest = "par"
    case token
    case deviceCode = "devicecode"
    case deviceLogin = "devicelogin"
    case instanceDiscovery = "discovery"
    case openIDConfiguration = "openid_configuration"
    case keys
    case userInfo = "userinfo"
    /// Microsoft Graph.
    case graph
    case logout
    /// Device registration discovery, which names the AD FS farm of a domain.
    case enrollment
    case webFinger = "webfinger"
}

/// The protocol version of an endpoint: v1 requests have a `resource`, v2 requests a `scope`.
enum ProtocolVersion: Sendable {
    case v1
    case v2
}

/// The authority that a request was sent to, as its path names it.
struct RequestedAuthority: Sendable, Equatable {
    enum Kind: Sendable {
        case entra
        case b2c
        case adfs
        /// Entra External ID, recognised by the host.
        case ciam
        /// An OpenID Connect provider other than Entra.
        case openID
    }

    var kind: Kind
    /// `common`, `organizations`, `consumers`, a domain or a tenant ID; `adfs` for AD FS; the name of an OpenID provider.
    var realm: String
    /// The B2C user flow, in the spelling of the request.
    var policy: String?

    static let common = RequestedAuthority(kind: .entra, realm: "common")

    /// Parses the path segments before the endpoint; nil if they are no authority.
    init?(segments: [String], policy: String?) {
        switch (segments.count, segments.first?.lowercased()) {
        case (2, "openid"): self.init(kind: .openID, realm: segments[1])
        case (1, "adfs"): self.init(kind: .adfs, realm: "adfs")
        case (1, _) where policy != nil: self.init(kind: .b2c, realm: segments[0], policy: policy)
        case (1, _): self.init(kind: .entra, realm: segments[0])
        case (3, "tfp"): self.init(kind: .b2c, realm: segments[1], policy: segments[2])
        case (2, _): self.init(kind: .b2c, realm: segments[0], policy: segments[1])
        default: return nil
        }
    }

    init(kind: Kind, realm: String, policy: String? = nil) {
        self.kind = kind
        self.realm = realm
        self.policy = policy
    }

    /// The path of the authority, without leading and trailing slashes.
    var path: String {
        switch kind {
        case .adfs: "adfs"
        case .entra, .ciam: realm
        case .openID: "openid/\(realm)"
        case .b2c: "tfp/\(realm)/\(policy ?? "")"
        }
    }
}

/// The type of an authorization grant (RFC 6749 section 1.3).
package enum GrantType: String, Codable, Sendable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"
    /// A SAML 1.1 assertion, in the manner of RFC 7522.
    case saml11Bearer = "saml1_1-bearer"
    /// A SAML 2.0 assertion (RFC 7522).
    case saml2Bearer = "saml2-bearer"

    /// Parses `grant_type`: a short name, or a URN as in RFC 8628 section 3.4.
    init?(parameter: String) {
        let urn = "urn:ietf:params:oauth:grant-type:"
        self.init(rawValue: parameter.hasPrefix(urn) ? String(parameter.dropFirst(urn.count)) : parameter)
    }
}

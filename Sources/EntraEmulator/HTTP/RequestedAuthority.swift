/// The authority a request was sent to, as its path spells it.
struct RequestedAuthority: Sendable, Equatable {
    enum Kind: Sendable {
        case entra
        case b2c
        case adfs
        /// Entra External ID, told by its host.
        case ciam
        /// A provider that knows nothing but OpenID Connect.
        case openID
    }

    var kind: Kind
    /// `common`, `organizations`, `consumers`, a domain or a tenant ID; `adfs` for AD FS; an OpenID provider's name.
    var realm: String
    /// The user flow of B2C, as written.
    var policy: String?

    static let common = RequestedAuthority(kind: .entra, realm: "common")

    /// From the path segments in front of an endpoint; nil when no service has that shape.
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

    /// The path that leads back here, without slashes at its ends.
    var path: String {
        switch kind {
        case .adfs: "adfs"
        case .entra, .ciam: realm
        case .openID: "openid/\(realm)"
        case .b2c: "tfp/\(realm)/\(policy ?? "")"
        }
    }
}

package import TokenModel

/// Where a refresh token was issued: the only identity provider, and the only token endpoint, that it is sent to.
///
/// It is part of the token's sealed record. What a request, a discovery document or a cloud's list of host names says later
/// does not change it.
package struct TokenBinding: Sendable, Hashable {
    /// The kind of the authority that issued the token.
    package var kind: Authority.Kind
    /// The identity provider.
    package var issuer: Issuer
    /// The host of the token endpoint, with the port unless it is 443. If the binding needs a path, the path follows in lower case:
    /// `login.contoso.com/tenant/oauth2/v2.0/token`.
    package var endpoint: String

    /// Whether the binding names everything that it has to name. Those that earlier versions saved may lack the path.
    package var isComplete: Bool { !needsPath || endpoint.contains("/") }

    /// Whether the host of the token endpoint does not suffice: at a domain of the organisation, other paths of that host may belong
    /// to anybody.
    fileprivate var needsPath: Bool {
        switch kind {
        case .b2c, .ciam: !CloudDirectory.isMicrosofts(environment)
        // Entra's tenants share a host, AD FS has one path, and the issuer of an OpenID provider has its path.
        case .entra, .adfs, .openID: false
        }
    }

    /// The host in `endpoint`, with the port unless it is 443.
    package var environment: String { endpoint.split(separator: "/").first.map(String.init) ?? endpoint }

    /// The token endpoints that an account's refresh token may be sent to: the one that issued it, and the same with the ID of
    /// the account's tenant instead of the tenant's name, by which earlier versions, and discovery documents, name it.
    package func endpoints(of account: AccountKey) -> Set<String> {
        var segments = endpoint.split(separator: "/").map(String.init)
        let tenant = kind == .b2c && segments.dropFirst().first == "tfp" ? 2 : 1
        // A path that names no tenant is that of the endpoint alone: `/oauth2/v2.0/token`.
        guard needsPath, segments.count > tenant + 3, let tenantID = account.homeAccountID?.tenantID else {
            return [endpoint]
        }
        segments[tenant] = tenantID
        return [endpoint, segments.joined(separator: "/").lowercased()]
    }
}

/// A binding as a record has it. Its kind may be one that a later version has added.
package struct StoredBinding: Sendable, Equatable {
    /// `Authority.Kind` as a number.
    var kind: Int32
    var issuer: String
    var endpoint: String

    /// Returns nil if a part is missing.
    init?(kind: Int32?, issuer: String?, endpoint: String?) {
        guard let kind, let issuer, let endpoint else { return nil }
        (self.kind, self.issuer, self.endpoint) = (kind, issuer, endpoint)
    }

    init(_ binding: TokenBinding) {
        (kind, issuer, endpoint) = (binding.kind.rawValue, binding.issuer.text, binding.endpoint)
    }

    /// The binding; nil if this version does not know its kind.
    var known: TokenBinding? {
        Authority.Kind(rawValue: kind).map { TokenBinding(kind: $0, issuer: Issuer(issuer), endpoint: endpoint) }
    }
}

extension CloudDirectory {
    /// Whether an authority is of the kind, and the identity provider, that a binding names.
    package func isBound(_ binding: TokenBinding, to authority: Authority) -> Bool {
        guard binding.kind == authority.kind, binding.isComplete else { return false }
        let issuer = boundIssuer(of: authority)
        if binding.issuer == issuer { return true }
        // The user may have signed in before Microsoft's cloud had named all hosts of this one.
        guard authority.kind == .entra, binding.issuer != .microsoft, issuer != .microsoft else { return false }
        return cloud(of: issuer.text).aliases.contains(binding.issuer.text)
    }

    /// The authority at the host that its cloud prefers for requests. Only Entra's clouds have several hosts.
    package func networkAuthority(of authority: Authority) -> Authority {
        guard authority.kind == .entra || Self.isBuiltIn(authority.environment) else { return authority }
        return authority.withEnvironment(cloud(of: authority.environment).preferredNetwork)
    }

    /// The binding of a refresh token that an authority issues, if the authority's token endpoint is `endpoint`; by default the one
    /// of Entra's convention at the authority's own host.
    package func binding(to authority: Authority, endpoint: URLParts? = nil) -> TokenBinding {
        let environment = endpoint?.environment ?? networkAuthority(of: authority).environment
        var binding = TokenBinding(kind: authority.kind, issuer: boundIssuer(of: authority), endpoint: environment)
        if binding.needsPath {
            let conventional = [environment, authority.path, "oauth2/v2.0/token"].filter { !$0.isEmpty }
            binding.endpoint = endpoint?.environmentAndPath ?? conventional.joined(separator: "/").lowercased()
        }
        return binding
    }
}

extension AccountCredentials {
    /// The binding of a refresh token whose record has none, since another library or an earlier version saved it. Nil if it is
    /// not certain who issued the token.
    ///
    /// The kind of the provider follows from the account's records at the same host. The type of Entra's accounts says little: other
    /// libraries give it to accounts of any provider, so that the host has to be known as Entra's. An OpenID provider's token endpoint
    /// may be at any host: the provider's own is the only one that is known. The path of a B2C or External ID authority at a domain of
    /// its organisation is in the account's key, or known if the app has used one only.
    package func derivedBinding(of token: RefreshTokenRecord, _ clouds: CloudDirectory) -> TokenBinding? {
        if let stored = token.unusableBinding { return stored.known.flatMap { binding($0.kind, of: token, clouds) } }
        let environment = token.environment
        let records = accounts.values.filter { $0.environment == environment }
        let types = Set(records.map(\.authorityType))
        guard types.count < 2 else { return nil }
        switch types.first {
        case .none where CloudDirectory.isBuiltIn(environment), .some(AccountRecord.entraType):
            guard let kind = Self.entraKind(of: token.account, at: environment, clouds) else { return nil }
            if CloudDirectory.isMicrosofts(environment) || kind == .entra {
                return Self.authority(kind, environment, "common").map { clouds.binding(to: $0) }
            }
            guard let path = token.account.issuer.customDomainPath else { return binding(kind, of: token, clouds) }
            return Self.authority(kind, environment, path).map { clouds.binding(to: $0) }
        case .none: return nil
        case .some(AccountRecord.adfsType):
            return Self.authority(.adfs, environment, "adfs").map { clouds.binding(to: $0) }
        case .some:
            let realms = Set(records.map(\.realm)).union([token.restriction?.realm].compactMap(\.self))
            guard realms.count == 1, let realm = realms.first else { return nil }
            return Self.authority(.openID, environment, realm).map { clouds.binding(to: $0) }
        }
    }

    /// The binding to the authority of a kind that the app of a token has used at the token's host; nil if there is none, or
    /// more than one.
    private func binding(
        _ kind: Authority.Kind, of token: RefreshTokenRecord, _ clouds: CloudDirectory
    ) -> TokenBinding? {
        let used = metadata[token.clientID.key]?.authorities(of: kind, at: token.environment) ?? []
        let bindings = Set(used.map { clouds.binding(to: $0) })
        return bindings.count == 1 ? bindings.first : nil
    }

    /// The kind of an account's provider, of those that Microsoft's libraries save alike: Entra, a customer tenant or a B2C policy.
    /// Nil if the host is not known as Entra's.
    static func entraKind(
        of account: AccountKey, at environment: String, _ clouds: CloudDirectory
    ) -> Authority.Kind? {
        let host = URLParts.host(ofEnvironment: environment)
        if host.hasSuffix(".ciamlogin.com") { return .ciam }
        let isPolicyAccount = account.homeAccountID?.objectID.map { $0.contains("-b2c_1") } ?? false
        if CloudDirectory.isB2Cs(host: host) || isPolicyAccount { return .b2c }
        if account.issuer.isAtCustomDomain { return .ciam }
        return clouds.isEntras(environment) ? .entra : nil
    }

    private static func authority(_ kind: Authority.Kind, _ environment: String, _ path: String) -> Authority? {
        try? Authority("https://\(environment)/\(path == "/" ? "" : path)", kind: kind)
    }
}

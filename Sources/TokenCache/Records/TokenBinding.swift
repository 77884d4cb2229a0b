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
    /// The host of the token endpoint, with the port unless it is 443.
    package var endpoint: String

    package init(kind: Authority.Kind, issuer: Issuer, endpoint: String) {
        self.kind = kind
        self.issuer = issuer
        self.endpoint = endpoint
    }
}

extension CloudDirectory {
    /// Whether an authority is of the kind, and the identity provider, that a binding names.
    package func isBound(_ binding: TokenBinding, to authority: Authority) -> Bool {
        guard binding.kind == authority.kind else { return false }
        let issuer = issuer(of: authority)
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

    /// The binding of a refresh token that an authority issues, if the authority's token endpoint is at `endpoint`; by default at
    /// the authority's own host.
    package func binding(to authority: Authority, endpoint: String? = nil) -> TokenBinding {
        TokenBinding(
            kind: authority.kind, issuer: issuer(of: authority),
            endpoint: endpoint ?? networkAuthority(of: authority).environment)
    }
}

extension AccountCredentials {
    /// The binding of a refresh token whose record has none, since another library or an earlier version saved it. Nil if it is
    /// not certain who issued the token.
    ///
    /// The kind of the provider follows from the account's records at the same host. An OpenID provider's token endpoint may be
    /// at any host: the provider's own is the only one that is known.
    package func derivedBinding(of token: RefreshTokenRecord, _ clouds: CloudDirectory) -> TokenBinding? {
        let environment = token.environment
        let records = accounts.values.filter { $0.environment == environment }
        let types = Set(records.map(\.authorityType))
        guard types.count < 2 else { return nil }
        switch types.first {
        case .none where CloudDirectory.isBuiltIn(environment), .some(AccountRecord.entraType):
            return Self.entraAuthority(of: token.account, at: environment).map { clouds.binding(to: $0) }
        case .none: return nil
        case .some(AccountRecord.adfsType):
            return Self.authority(.adfs, environment, "adfs").map { clouds.binding(to: $0) }
        case .some:
            let realms = Set(records.map(\.realm)).union([token.restriction?.realm].compactMap(\.self))
            guard realms.count == 1, let realm = realms.first else { return nil }
            return Self.authority(.openID, environment, realm).map { clouds.binding(to: $0) }
        }
    }

    /// An authority of the kinds that Microsoft's libraries save alike: Entra's, a customer tenant's or a B2C policy's.
    private static func entraAuthority(of account: AccountKey, at environment: String) -> Authority? {
        let host = URLParts.host(ofEnvironment: environment)
        if host.hasSuffix(".ciamlogin.com") { return authority(.ciam, environment, "common") }
        let isPolicyAccount = account.homeAccountID?.objectID.map { $0.contains("-b2c_1") } ?? false
        if host.hasSuffix(".b2clogin.com") || isPolicyAccount { return authority(.b2c, environment, "common") }
        return authority(.entra, environment, "common")
    }

    private static func authority(_ kind: Authority.Kind, _ environment: String, _ path: String) -> Authority? {
        try? Authority("https://\(environment)/\(path == "/" ? "" : path)", kind: kind)
    }
}

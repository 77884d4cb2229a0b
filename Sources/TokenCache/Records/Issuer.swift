package import TokenModel

/// The identity provider of an account.
///
/// Providers on one host are distinguished by their paths. Microsoft's clouds are one issuer, since an account keeps its
/// identifier in all of them.
package struct Issuer: Sendable, Hashable {
    /// The provider's host and path, such as `accounts.google.com` or `id.contoso.com/realms/staff`; empty for Microsoft's
    /// clouds. A B2C policy or External ID at a domain of its organisation has two slashes before the path:
    /// `login.contoso.com//contoso.onmicrosoft.com/b2c_1_in`.
    package let text: String

    package init(_ text: String) { self.text = text }

    package static let microsoft = Issuer("")

    /// The issuer of a record that an earlier version or another library saved, until it is found; no host has this name.
    package static let unresolved = Issuer("?")

    /// Equal if the bytes are, as on the disk.
    package static func == (left: Issuer, right: Issuer) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// The text for the keys of records, which are compared without regard to case, as paths are not.
    var keyText: String {
        let folded = text.lowercased()
        return folded == text ? text : "\(folded)#\(Fingerprint.of(text).prefix(16))"
    }

    /// The issuer of B2C or External ID at a path of a domain of the organisation. Neither tenants nor policies differ by case.
    fileprivate init(customDomain environment: String, path: String) {
        text = "\(environment)\(Self.customDomainMark)\(path.lowercased())"
    }

    /// Whether this is B2C or External ID at a path of a domain of the organisation.
    package var isAtCustomDomain: Bool { text.contains(Self.customDomainMark) }

    /// The path of B2C or External ID at a domain of the organisation, in lower case; nil for other issuers.
    var customDomainPath: String? {
        text.firstRange(of: Self.customDomainMark).map { String(text[$0.upperBound...]) }
    }

    /// Whether this is B2C or External ID at a path of this domain.
    package func isAtCustomDomain(_ environment: String) -> Bool {
        text.hasPrefix(environment + Self.customDomainMark)
    }

    /// No other issuer has it: the paths of authorities have no empty segments.
    private static let customDomainMark = "//"
}

/// Client IDs and scopes at an issuer. An OpenID provider compares them exactly (RFC 6749 sections 2.2 and 3.3). Those of Microsoft's services
/// and of AD FS do not differ by their case.
extension Issuer {
    /// Whether tokens of a realm are those of an OpenID provider: its path is the realm, as of no other kind of issuer but AD FS, or it has
    /// none.
    func comparesExactly(realm: String) -> Bool {
        guard !text.isEmpty, realm != Self.adfsRealm else { return false }
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return realm == "/" }
        return text[text.utf8.index(after: slash)...].lowercased() == realm
    }

    /// The client ID as the tokens of a realm are found by it.
    package func appKey(of clientID: ClientID, realm: String) -> String {
        comparesExactly(realm: realm) ? clientID.text : clientID.key
    }

    /// Whether two client IDs are those of one app.
    func isSameApp(_ left: ClientID, _ right: ClientID, realm: String) -> Bool {
        left == right && (!comparesExactly(realm: realm) || left.text.hasSameBytes(as: right.text))
    }

    /// The end of the key of a token, which is in lower case: a hash of the client ID and the scopes, if they have capital letters that matter;
    /// else empty.
    func keyMark(realm: String, of texts: () -> [String]) -> String {
        guard comparesExactly(realm: realm) else { return "" }
        let text = texts().joined(separator: " ")
        return text.inLowerCase.hasSameBytes(as: text) ? "" : "#\(Fingerprint.of(text).prefix(16))"
    }

    /// The realm of every AD FS.
    private static let adfsRealm = "adfs"
}

extension Authority {
    /// Whether this is B2C or External ID at a domain of the organisation, where other paths may be anybody's. On this machine, a port
    /// is one program's.
    package var isAtCustomDomain: Bool {
        switch kind {
        case .b2c, .ciam: !CloudDirectory.isMicrosofts(environment) && !isLoopback
        case .entra, .adfs, .openID: false
        }
    }
}

extension CloudDirectory {
    /// The identity provider of an authority, to which its accounts belong.
    package func issuer(of authority: Authority) -> Issuer {
        authority.isAtCustomDomain
            ? Issuer(customDomain: authority.environment, path: authority.path) : boundIssuer(of: authority)
    }

    /// The identity provider in the binding of an authority's refresh tokens. At a domain of the organisation it is the host, since
    /// the binding has the path of the token endpoint besides.
    package func boundIssuer(of authority: Authority) -> Issuer {
        let environment = authority.environment
        switch authority.kind {
        case .entra where Self.isBuiltIn(environment), .b2c where Self.isBuiltIn(environment): return .microsoft
        // The host under which credentials are saved, whatever name of the cloud the app uses.
        case .entra: return Issuer(cloud(of: environment).preferredCache)
        case .b2c, .ciam: return Issuer(environment)
        case .adfs: return Issuer("\(environment)/adfs")
        case .openID: return Issuer(authority.path.isEmpty ? environment : "\(environment)/\(authority.path)")
        }
    }
}

extension CloudDirectory {
    /// The issuers under which an authority's accounts may have been saved besides its own: other names of its cloud, before these
    /// were known; the host without the port, by other libraries; and the host without the path, by earlier versions.
    func otherIssuers(of authority: Authority) -> [Issuer] {
        let environment = authority.environment
        let hosts =
            authority.kind == .entra ? cacheAliases(of: environment) : [URLParts.host(ofEnvironment: environment)]
        let own = issuer(of: authority)
        let others = hosts.map { host in
            authority.kind == .entra ? Issuer(host) : issuer(of: authority.withEnvironment(host))
        }
        let earlier = authority.isAtCustomDomain ? ([environment] + hosts).map { Issuer($0) } : []
        return (others + earlier).filter { $0 != own }
    }
}

extension AccountCredentials {
    /// Whether the apps of an account that an earlier version saved under the host of a custom domain have used this authority there,
    /// and no other one.
    func belongsOnly(to authority: Authority, _ clouds: CloudDirectory) -> Bool {
        let used = metadata.values.flatMap { $0.authorities(of: authority.kind, at: authority.environment) }
        return Set(used.map { clouds.issuer(of: $0) }) == [clouds.issuer(of: authority)]
    }
}

extension AccountMetadataRecord {
    /// The authorities of a host that the app has used, as authorities of one kind.
    func authorities(of kind: Authority.Kind, at environment: String) -> [Authority] {
        authorities(of: kind).filter { $0.environment == environment }
    }

    /// The authorities that the app has used, as authorities of one kind, in any order.
    func authorities(of kind: Authority.Kind) -> [Authority] {
        authorityMap.keys.compactMap { name in
            // The URL, after a prefix for apps that accept several clouds.
            name.split(separator: " ").last.flatMap { try? Authority(String($0), kind: kind) }
        }
    }
}

extension AccountRecord {
    /// The issuer of a record that does not name it, by its type and its host.
    package static func issuer(environment: String, realm: String, authorityType: String) -> Issuer {
        switch authorityType {
        case entraType: Issuer(ofEnvironment: environment)
        case adfsType: Issuer("\(environment)/adfs")
        default: Issuer(realm == "/" ? environment : "\(environment)/\(realm)")
        }
    }
}

extension Issuer {
    /// The issuer of Entra's tokens that were saved under a host.
    package init(ofEnvironment environment: String) {
        self = CloudDirectory.isBuiltIn(environment) ? .microsoft : Issuer(environment)
    }
}

package import TokenModel

/// The identity provider of an account.
///
/// Providers on one host are distinguished by their paths. Microsoft's clouds are one issuer, since an account keeps its
/// identifier in all of them.
package struct Issuer: Sendable, Hashable {
    /// The provider's host and path, such as `accounts.google.com` or `id.contoso.com/realms/staff`; empty for Microsoft's
    /// clouds.
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
}

extension CloudDirectory {
    /// The identity provider of an authority.
    package func issuer(of authority: Authority) -> Issuer {
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
    /// were known, and the host without the port, by other libraries.
    func otherIssuers(of authority: Authority) -> [Issuer] {
        let environment = authority.environment
        let hosts =
            authority.kind == .entra ? cacheAliases(of: environment) : [URLParts.host(ofEnvironment: environment)]
        let own = issuer(of: authority)
        return hosts.map { host in
            authority.kind == .entra ? Issuer(host) : issuer(of: authority.withEnvironment(host))
        }.filter { $0 != own }
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

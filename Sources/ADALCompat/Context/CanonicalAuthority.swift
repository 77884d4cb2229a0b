internal import Foundation
internal import TokenModel

/// An authority as ADAL writes it: lower case, scheme, host, port where one was given, and the tenant. Nothing after it.
struct CanonicalAuthority: Sendable, Equatable {
    /// The URL, without a trailing slash.
    let text: String
    /// The same for the agent.
    let authority: Authority

    /// Nil unless `url` is `https` (or `http` on this machine itself) with a host and a first path segment.
    init?(_ url: String) {
        guard let trimmed = url.trimmedNonEmpty?.lowercased(), let parts = URLComponents(string: trimmed),
            let scheme = parts.scheme, let host = parts.percentEncodedHost, !host.isEmpty,
            let tenant = parts.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
                .first,
            tenant.removingPercentEncoding?.trimmedNonEmpty != nil
        else { return nil }
        let port = parts.port.map { ":\($0)" } ?? ""
        let text = "\(scheme)://\(host)\(port)/\(tenant)"
        guard let authority = try? Authority(text) else { return nil }
        self.text = text
        self.authority = authority
    }
}

extension CanonicalAuthority {
    /// This authority, or the same tenant in the cloud of `issuer` where that is another one.
    func inCloud(of issuer: String) -> String {
        guard let issuer = try? Authority(issuer) else { return text }
        let (asked, answered) = (authority.environment, issuer.environment)
        let isForeign =
            Self.clouds.knows(asked) && Self.clouds.knows(answered) && !Self.clouds.sameCloud(asked, answered)
        return isForeign ? authority.withEnvironment(answered).url : text
    }

    /// This authority under the one name that its cloud keeps tokens under.
    ///
    /// A refresh token serves every tenant, so that its own says nothing.
    func kept(isTenantless: Bool) -> String {
        var kept = authority.withEnvironment(Self.clouds.cloud(of: authority.environment).preferredCache)
        if isTenantless || kept.realm == "organizations" { kept = kept.withRealm("common") }
        return kept.url
    }

    private static let clouds = CloudDirectory()
}

internal import Foundation
internal import TokenModel

/// An authority in the form that ADAL uses: scheme, host, port if one was given, and tenant, in lower case. An object, since
/// every request and every result refers to it.
final class CanonicalAuthority: Sendable, Equatable {
    /// The URL, without a trailing slash.
    let text: String
    /// The authority for the requests to the agent.
    let authority: Authority

    /// Returns nil unless `url` is an `https` URL (or `http` on a loopback host) with a host and a first path segment.
    init?(_ url: String) {
        guard let trimmed = url.trimmedNonEmpty?.lowercased(), let parts = URLComponents(string: trimmed),
            let scheme = parts.scheme, let host = parts.encodedHost, !host.isEmpty,
            // As in ADAL, repeated slashes count as one: apps join a host with a slash and a path with one.
            let tenant = parts.percentEncodedPath.split(separator: "/").first,
            tenant.removingPercentEncoding?.trimmedNonEmpty != nil
        else { return nil }
        let port = parts.port.map { ":\($0)" } ?? ""
        let text = "\(scheme)://\(host)\(port)/\(tenant)"
        guard let authority = try? Authority(text) else { return nil }
        self.text = text
        self.authority = authority
    }

    static func == (left: CanonicalAuthority, right: CanonicalAuthority) -> Bool {
        left === right || (left.text == right.text && left.authority == right.authority)
    }
}

extension CanonicalAuthority {
    /// Returns this authority, or the same tenant in the cloud of `issuer` if that is another cloud.
    func inCloud(of issuer: String) -> String {
        guard issuer != authority.url, let issuer = try? Authority(issuer) else { return text }
        let (requested, issued) = (authority.environment, issuer.environment)
        let isOtherCloud =
            requested != issued && Self.clouds.knows(requested) && Self.clouds.knows(issued)
            && !Self.clouds.sameCloud(requested, issued)
        return isOtherCloud ? authority.withEnvironment(issued).url : text
    }

    /// Returns this authority under the host name that its cloud's tokens are cached under.
    ///
    /// For a refresh token, which serves every tenant, the tenant is replaced by `common`.
    func cacheAuthority(isTenantless: Bool) -> String {
        var kept = authority.withEnvironment(Self.clouds.cloud(of: authority.environment).preferredCache)
        if isTenantless || kept.realm == "organizations" { kept = kept.withRealm("common") }
        return kept.url
    }

    private static let clouds = CloudDirectory()
}

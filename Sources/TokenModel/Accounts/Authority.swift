/// The URL of an identity provider: scheme, environment (host and port) and path, which names the realm.
///
/// `https://login.microsoftonline.com/common` has the environment `login.microsoftonline.com` and the realm `common`.
/// Normal form: lower-case host, no query, no fragment, no trailing slash; authorities of Entra, AD FS and External ID keep only the
/// first path segment, in lower case.
public struct Authority: Sendable, Hashable, CustomStringConvertible {
    /// The kind of identity provider.
    @nonexhaustive public enum Kind: Int32, Sendable, Hashable, CaseIterable {
        /// Microsoft Entra ID (Azure AD), in any cloud.
        case entra = 1
        /// Azure AD B2C: one authority per policy.
        case b2c = 2
        /// AD FS. Its path is `adfs`, in any case; an authority of this kind with another path is refused, since the refresh
        /// tokens of a farm must not be sent to whatever else is published on its host.
        case adfs = 3
        /// Entra External ID for customers, on `ciamlogin.com` or a custom domain.
        case ciam = 4
        /// Any other OpenID Connect provider, found by discovery (OpenID Connect Discovery 1.0 section 4). It cannot be
        /// recognised by the URL: the app must name the kind.
        case openID = 5
    }

    /// The kind of identity provider.
    public let kind: Kind
    /// `https`; `http` for loopback hosts only.
    public let scheme: String
    /// The host in lower case, followed by `:port` if the URL names one.
    public let environment: String
    /// The path without its leading slash, `/`-separated.
    public let path: String
    /// The authority as a URL without a trailing slash.
    public let url: String

    /// Parses and normalises a URL.
    ///
    /// - Parameter kind: nil derives it from the URL: `/tfp/TENANT/POLICY` and `*.b2clogin.com` are B2C's, also with the endings `cn`, `us`
    ///   and `de` of other clouds, `/adfs` is AD FS's, `*.ciamlogin.com` is External ID's, and any other URL is Entra's.
    /// - Throws: `invalidDeveloperParameter` (-51112) if it is not an `https` URL with a host; if it has no path, which only External ID and
    ///   OpenID providers may leave out; if it names a user, or a port that is not from 1 to 65535; without `kind`, if the path begins with
    ///   `tfp` and has no tenant or no policy, or if it begins with `dstsv2`, since dSTS is not supported; or if `kind` is AD FS and the
    ///   first segment of the path is not `adfs`. `http` is accepted for loopback hosts, but the agent refuses it unless started with
    ///   `--allow-loopback-http` or configured so.
    public init(_ url: String, kind: Kind? = nil) throws(TokenError) {
        if let plain = Authority(plain: url, kind: kind) {
            self = plain
            return
        }
        let parts = try URLParts(url)
        guard parts.scheme == "https" || (parts.scheme == "http" && parts.isLoopback) else {
            throw TokenError(.invalidDeveloperParameter, "authority \(url) must use https")
        }
        guard parts.port != 0 else {
            throw TokenError(.invalidDeveloperParameter, "authority \(url) names the port 0; \(URLParts.portAdvice)")
        }
        let kind =
            if let kind { kind } else { try Self.kind(host: parts.host, segments: parts.segments, url: url) }
        let segments = try Self.normalised(parts.segments, kind: kind, host: parts.host, url: url)
        self.init(
            kind: kind, scheme: parts.scheme, environment: parts.environment, path: segments.joined(separator: "/"))
    }

    private init(kind: Kind, scheme: String, environment: String, path: String) {
        self.kind = kind
        self.scheme = scheme
        self.environment = environment
        self.path = path
        url = path.isEmpty ? "\(scheme)://\(environment)" : "\(scheme)://\(environment)/\(path)"
    }

    /// An Entra authority whose URL is in normal form, as nearly every one in a request is; nil for any other.
    ///
    /// A fast path, with the same result as `init(_:kind:)`: each request that the agent decodes names an authority.
    private init?(plain url: String, kind: Kind?) {
        guard kind == nil || kind == .entra else { return nil }
        let start = Self.plainScheme.utf8.count
        let slash = url.utf8.withContiguousStorageIfAvailable { bytes -> Int? in
            guard bytes.count > start, bytes.starts(with: Self.plainScheme.utf8) else { return nil }
            var slash: Int?
            for index in start..<bytes.count {
                switch bytes[index] {
                case _ where URLParts.isPlainInHost(bytes[index]): break
                case UInt8(ascii: "/") where slash == nil && index > start && index < bytes.count - 1: slash = index
                default: return nil
                }
            }
            return slash
        }
        guard let slash = slash ?? nil else { return nil }
        let separator = url.utf8.index(url.startIndex, offsetBy: slash)
        let host = String(url[url.utf8.index(url.startIndex, offsetBy: start)..<separator])
        let path = String(url[url.utf8.index(after: separator)...])
        // A URL with another meaning, unless the app names the kind.
        if kind == nil, (try? Self.kind(host: host, segments: [path], url: url)) != .entra { return nil }
        self.kind = .entra
        scheme = "https"
        environment = host
        self.path = path
        self.url = url
    }

    private static let plainScheme = "https://"

    /// The path of every AD FS. MSAL and ADAL recognise an AD FS by it, regardless of case.
    private static let adfsPath = "adfs"

    /// The first path segment of every dSTS, a token service of Microsoft's data centres. The second one is the tenant: without it, as an
    /// authority of Entra, it would have no token endpoint.
    private static let dSTSPath = "dstsv2"

    /// The public cloud's authority for work, school and personal accounts.
    public static let common = Authority(
        kind: .entra, scheme: "https", environment: "login.microsoftonline.com", path: "common")

    /// The tenant: the first path segment; the tenant of a B2C policy; for any other OpenID provider the whole path, or `/`
    /// if it has none.
    public var realm: String {
        switch kind {
        case .entra, .adfs, .ciam: path.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? path
        case .b2c: policyPath.tenant
        case .openID: path.isEmpty ? "/" : path
        }
    }

    /// The policy (user flow) of a B2C authority as written; nil for other kinds, and if the path names none.
    package var policy: String? { kind == .b2c ? policyPath.policy : nil }

    /// The text of `url`.
    public var description: String { url }

    /// Whether the realm is not a tenant: `common`, `organizations` or `consumers`.
    public var isTenantless: Bool {
        guard kind == .entra else { return false }
        let realm = realm
        return realm == "common" || realm == "organizations" || realm == "consumers"
    }

    /// Whether the authority is for personal Microsoft accounts only, `consumers` and their tenant, or for none of them, `organizations`; nil
    /// for other authorities.
    package var isForPersonalAccounts: Bool? {
        guard kind == .entra else { return nil }
        return switch realm {
        case "consumers", HomeAccountID.personalTenantID: true
        case "organizations": false
        default: nil
        }
    }

    /// Whether an account can belong to this authority. B2C makes an account of its own for each policy, whose object ID ends in the policy's
    /// name; tokens of one policy are of no use to another.
    package func admits(_ account: HomeAccountID) -> Bool {
        guard kind == .b2c, let policy = policy?.lowercased(), let objectID = account.objectID,
            objectID.utf8.count > Self.guidLength
        else { return true }
        return objectID.hasSuffix("-\(policy)")
    }

    private static let guidLength = 36

    /// Whether a username that several accounts have can mean an account at this authority. An identifier means its account anyhow.
    ///
    /// - Parameter account: nil for an account that is known by its username only.
    package func isFor(_ account: HomeAccountID?) -> Bool {
        guard let account else { return isForPersonalAccounts != true }
        return admits(account) && (isForPersonalAccounts.map { $0 == account.isPersonal } ?? true)
    }

    /// Whether the host is this machine.
    public var isLoopback: Bool { URLParts.isLoopback(host: URLParts.host(ofEnvironment: environment)) }

    /// The same authority with another tenant. Unchanged if the path has no tenant: AD FS, OpenID providers, and B2C
    /// policies without `tfp`.
    public func withRealm(_ realm: String) -> Authority {
        switch kind {
        case .entra, .ciam:
            if realm == path { return self }
            return Authority(kind: kind, scheme: scheme, environment: environment, path: realm.lowercased())
        case .b2c:
            let parts = policyPath
            guard let prefix = parts.prefix, let policy = parts.policy else { return self }
            return Authority(
                kind: kind, scheme: scheme, environment: environment, path: "\(prefix)/\(realm)/\(policy)")
        case .adfs, .openID: return self
        }
    }

    /// The same authority at another host of its cloud.
    ///
    /// - Parameter environment: the host in lower case, with `:port` unless that is the default. It is not checked.
    public func withEnvironment(_ environment: String) -> Authority {
        Authority(kind: kind, scheme: scheme, environment: environment, path: path)
    }

    /// `tfp/TENANT/POLICY` or `TENANT/POLICY`.
    private var policyPath: (prefix: String?, tenant: String, policy: String?) {
        let segments = path.split(separator: "/").map(String.init)
        guard Self.hasPolicyPrefix(segments) else {
            return (nil, segments.first ?? "", segments.count > 1 ? segments[1] : nil)
        }
        return (segments[0], segments[1], segments[2])
    }

    private static func hasPolicyPrefix(_ segments: [String]) -> Bool {
        segments.count >= 3 && segments[0].lowercased() == "tfp"
    }

    private static func kind(host: String, segments: [String], url: String) throws(TokenError) -> Kind {
        switch segments.first?.lowercased() {
        case "tfp":
            guard hasPolicyPrefix(segments) else {
                throw TokenError(
                    .invalidDeveloperParameter, "authority \(url) has to be https://<host>/tfp/<tenant>/<policy>")
            }
            return .b2c
        case adfsPath: return .adfs
        case dSTSPath:
            throw TokenError(
                .invalidDeveloperParameter, "authority \(url) is one of dSTS, which is not supported")
        case _ where host.hasSuffix(".ciamlogin.com"): return .ciam
        case _ where CloudDirectory.isB2Cs(host: host): return .b2c
        default: return .entra
        }
    }

    private static func normalised(
        _ segments: [String], kind: Kind, host: String, url: String
    ) throws(TokenError) -> [String] {
        switch kind {
        case .adfs:
            guard segments.first?.lowercased() == adfsPath else {
                throw TokenError(
                    .invalidDeveloperParameter,
                    "authority \(url) is not an AD FS; write https://<host>/adfs, or name the kind of this provider")
            }
            return [adfsPath]
        case .entra:
            guard let first = segments.first else {
                throw TokenError(
                    .invalidDeveloperParameter, "authority \(url) names no tenant; add one, such as /common")
            }
            return [first.lowercased()]
        case .ciam:
            if let first = segments.first { return [first.lowercased()] }
            // A custom domain does not name the tenant.
            return host.hasSuffix(".ciamlogin.com") ? [host.prefix { $0 != "." } + ".onmicrosoft.com"] : []
        case .b2c:
            guard !segments.isEmpty else {
                throw TokenError(
                    .invalidDeveloperParameter,
                    "authority \(url) names no tenant; write https://<host>/tfp/<tenant>/<policy>")
            }
            return hasPolicyPrefix(segments) ? Array(segments.prefix(3)) : segments
        case .openID:
            return segments
        }
    }
}

internal import Foundation
internal import NIOHTTP1

/// A request to an emulated endpoint.
struct EmulatorRequest: Sendable {
    var address: EndpointAddress
    var method: HTTPMethod
    var path: String
    /// The fields of the query and of the form; the libraries use both. A token request has those of the form only (RFC 6749 section 3.2).
    var parameters: Parameters
    var headers: HTTPHeaders
    /// Scheme, host and port of the request, so that a reply to a request at an alias names the alias.
    var baseURL: String
    /// Host and port of the `Host` header, in lower case.
    var environment: String

    init?(_ request: ReceivedRequest, scheme: String) {
        let query = Parameters(encoded: request.query)
        guard let address = EndpointAddress(path: request.path, policy: query["p"]) else { return nil }
        self.address = address
        method = request.method
        path = request.path
        let form = request.hasForm ? Parameters(encoded: String(decoding: request.body, as: UTF8.self)) : Parameters()
        parameters = address.endpoint == .token ? form : query.merging(form)
        headers = request.headers
        let environment = request.host?.lowercased() ?? "127.0.0.1"
        self.environment = environment
        baseURL = "\(scheme)://\(environment)"
        if address.authority.kind == .entra, environment.prefix(while: { $0 != ":" }).hasSuffix(".ciamlogin.com") {
            self.address.authority.kind = .ciam
        }
    }

    var authority: RequestedAuthority { address.authority }

    var clientID: String? { parameters["client_id"] }

    var grant: GrantType? {
        address.endpoint == .token ? parameters["grant_type"].flatMap(GrantType.init(parameter:)) : nil
    }

    /// The kind of request that it is counted as.
    var counter: Counter {
        grant.map(Counter.init) ?? Counter(address.endpoint)
    }

    /// The correlation ID, which libraries send as a parameter where they cannot set a header.
    var correlationID: String? {
        headers.first(name: "client-request-id") ?? parameters["client-request-id"]
    }
}

extension EmulatorRequest {
    /// Whether the app accepts a redirect to another cloud.
    var isInstanceAware: Bool { parameters["instance_aware"]?.lowercased() == "true" }

    /// Whether a sign-in request without scopes is refused: by the v2 endpoints of Entra, for which they name the resource.
    private var needsScope: Bool { address.version == .v2 && [.entra, .ciam].contains(authority.kind) }

    /// - Throws: `repeatedParameter` if an OAuth request has a parameter twice (RFC 6749 sections 3.1 and 3.2).
    func checkParameters() throws(OAuthFailure) {
        guard [.authorize, .pushedRequest, .token, .deviceCode].contains(address.endpoint),
            let name = parameters.repeatedName
        else { return }
        throw .repeatedParameter(name)
    }

    /// - Throws: the services' error for a sign-in request whose scopes they refuse.
    func checkScopes() throws(OAuthFailure) {
        if needsScope { _ = try parameters.required("scope") }
        guard !ScopeRules.mixesDefault(parameters.words("scope")) else { throw .defaultWithOthers }
    }

    /// The cloud that an instance-aware app has to continue at; nil if this is the user's home cloud.
    func homeCloud(of user: User, _ settings: EmulatorSettings) -> EmulatedCloud? {
        guard isInstanceAware, authority.kind == .entra, let home = settings.cloud(of: user),
            home != settings.cloud(ofHost: environment)
        else { return nil }
        return home
    }

    /// The issuer of codes and refresh tokens, at which they have to be redeemed: a cloud with all its tenants, a B2C user flow,
    /// an AD FS farm, or an OpenID provider.
    func issuer(_ settings: EmulatorSettings, _ directory: Directory, in cloud: EmulatedCloud? = nil) -> String {
        let cloud = (cloud ?? settings.cloud(ofHost: environment))?.hosts.first ?? ""
        let part =
            switch authority.kind {
            case .entra, .ciam: ""
            case .adfs, .openID: authority.path.lowercased()
            case .b2c:
                "\(directory.tenantID(realm: authority.realm) ?? authority.realm)/\(authority.policy ?? "")"
                    .lowercased()
            }
        return "\(cloud)|\(part)"
    }
}

/// An HTTP request with its complete body.
struct ReceivedRequest: Sendable {
    var method: HTTPMethod
    /// The path without the query, percent-encoded.
    var path: String
    /// The query without the question mark; empty if there is none.
    var query: String
    var headers: HTTPHeaders
    var body: Data

    init(_ head: HTTPRequestHead, body: Data) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = head.method
        path = String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : ""
        headers = head.headers
        self.body = body
    }

    var host: String? { headers.first(name: "Host") }

    /// Whether the body is the form that OAuth requires (RFC 6749 section 3.2). The services ignore another one.
    var hasForm: Bool {
        let type = headers.first(name: "Content-Type")?.prefix { $0 != ";" }
        return type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/x-www-form-urlencoded"
    }
}

internal import Foundation
internal import NIOHTTP1

/// The discovery endpoints: instance discovery, OpenID configuration and signing keys.
struct DiscoveryRoute: Sendable {
    let state: EmulatorState
    let key: SigningKey

    /// `GET /common/discovery/instance`: the clouds and their host names, if the host asked about is one of them.
    func instance(_ request: EmulatorRequest) throws -> Response {
        let endpoint = try request.parameters.required("authorization_endpoint")
        guard let url = URL(string: endpoint), let host = url.host() else { throw OAuthFailure.invalidInstance }
        let environment = url.port.map { "\(host):\($0)" } ?? host
        let (settings, baseURL) = state.update { ($0.settings, $0.baseURL) }
        let ownHosts = Self.ownHosts(baseURL)
        let aliases = ownHosts + settings.hostAliases
        let known = aliases + settings.clouds.flatMap(\.hosts)
        guard known.contains(environment.lowercased()) else { throw OAuthFailure.invalidInstance }
        let tenant = url.pathComponents.dropFirst().first ?? "common"
        let metadata: JSON = [
            "preferred_network": JSON(ownHosts.first),
            "preferred_cache": JSON(settings.preferredCache ?? ownHosts.first),
            "aliases": JSON(aliases),
        ]
        return try .json(
            [
                "tenant_discovery_endpoint":
                    "\(request.baseURL)/\(tenant)/v2.0/.well-known/openid-configuration",
                "api-version": "1.1",
                "metadata": .array([metadata] + settings.clouds.map(\.metadata)),
            ] as JSON)
    }

    /// `GET …/.well-known/openid-configuration`. AD FS of Windows Server 2012 R2 has none.
    func openIDConfiguration(_ request: EmulatorRequest) throws -> Response {
        let authority = request.authority
        if authority.kind == .adfs, state.update({ $0.settings.adfs.level }) == .windows2012R2 {
            return .text("Not Found\n", type: "text/plain", status: .notFound)
        }
        let isV2 = request.address.version == .v2
        let root = "\(request.baseURL)/\(authority.path)"
        let isOpenID = authority.kind == .openID
        let oauth = isOpenID ? root : isV2 ? "\(root)/oauth2/v2.0" : "\(root)/oauth2"
        let keys = isOpenID ? "\(root)/keys" : isV2 ? "\(root)/discovery/v2.0/keys" : "\(root)/discovery/keys"
        let (ownURL, settings) = state.update { ($0.baseURL, $0.settings) }
        let baseURL = isOpenID ? request.baseURL : ownURL
        let token = settings.tokenHost.map { oauth.replacing(request.environment, with: $0) } ?? oauth
        // The issuer of shared endpoints depends on the user, and has a placeholder for the tenant.
        let tenantID = state.directory.tenantID(realm: authority.realm) ?? "{tenantid}"
        let mint = TokenMint(
            key: key, directory: state.directory, baseURL: baseURL, authority: authority,
            version: request.address.version, settings: settings)
        let pushed = settings.pushedRequests
        let configuration: JSON =
            [
                "issuer": .string(mint.issuer(tenantID: tenantID)),
                "access_token_issuer": authority.kind == .adfs ? .string(mint.accessTokenIssuer(tenantID)) : .null,
                "authorization_endpoint": "\(oauth)/authorize",
                "pushed_authorization_request_endpoint": pushed == .unsupported ? .null : "\(oauth)/par",
                "require_pushed_authorization_requests": pushed == .required ? .bool(true) : .null,
                "token_endpoint": "\(token)/token",
                "device_authorization_endpoint": "\(oauth)/devicecode",
                "end_session_endpoint": "\(oauth)/logout",
                "jwks_uri": .string(keys),
                "userinfo_endpoint": "\(request.baseURL)/oidc/userinfo",
                "response_types_supported": ["code"],
                "response_modes_supported": ["query", "fragment", "form_post"],
                "subject_types_supported": [isOpenID ? "public" : "pairwise"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "scopes_supported": ["openid", "profile", "email", "offline_access"],
                "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"],
                // Entra does not send its issuer with authorization responses.
                "authorization_response_iss_parameter_supported": isOpenID ? .bool(true) : .null,
            ]
        return try .json(configuration.merging(settings.openIDConfiguration).withoutNulls)
    }

    func keys() throws -> Response {
        try .json(["keys": [key.publicKey]] as JSON)
    }

    /// The emulator's own host names.
    private static func ownHosts(_ baseURL: String) -> [String] {
        let port = URL(string: baseURL)?.port.map { ":\($0)" } ?? ""
        return ["127.0.0.1\(port)", "localhost\(port)"]
    }
}

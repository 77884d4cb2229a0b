internal import TokenModel

/// Entra's instance discovery: which hosts are names of one cloud.
enum InstanceDiscovery {
    /// The host that vouches for hosts which are not built in.
    private static let trusted = "login.microsoftonline.com"
    /// Microsoft's whole list is nine clouds of up to four names.
    private static let limit = 64

    /// A cloud of one name.
    static func alone(_ authority: Authority) -> CloudDirectory.Cloud {
        CloudDirectory.Cloud(
            aliases: [authority.environment], preferredNetwork: authority.environment,
            preferredCache: authority.environment)
    }

    /// Whom to ask about `authority`: itself when it is trusted or on this machine, else the public cloud.
    static func url(for authority: Authority) -> String {
        let asksItself = CloudDirectory.isBuiltIn(authority.environment) || authority.isLoopback
        let base = asksItself ? "\(authority.scheme)://\(authority.environment)" : "https://\(trusted)"
        var query = FormParameters()
        query.add("api-version", "1.1")
        query.add("authorization_endpoint", authority.url + "/oauth2/v2.0/authorize")
        return "\(base)/common/discovery/instance?\(query.encoded)"
    }

    /// Reads the answer. An answer without metadata says that the authority is a cloud of its own.
    static func clouds(
        in response: HTTPResponse, of authority: Authority
    ) throws(TokenError) -> [CloudDirectory.Cloud] {
        let object = response.isOAuth ? response.json : nil
        if authority.isLoopback, response.status == 404 || (response.isOAuth && object == nil) {
            return [alone(authority)]
        }
        guard response.isOAuth else { throw response.unhandled }
        guard let object else { throw response.invalid("is not JSON") }
        if let error = OAuthError(object) {
            throw error.error == "invalid_instance"
                ? error.tokenError(.authorityValidation, response: response)
                : error.tokenError(response: response)
        }
        guard let metadata = object["metadata"] else { return [alone(authority)] }
        guard let entries = metadata.array, entries.count <= limit else { throw malformed(response) }
        let clouds = entries.compactMap(cloud)
        guard clouds.count == entries.count else { throw malformed(response) }
        return clouds
    }

    private static func malformed(_ response: HTTPResponse) -> TokenError {
        response.invalid("has instance metadata with wrong types or host names")
    }

    private static func cloud(_ entry: JSONValue) -> CloudDirectory.Cloud? {
        guard let entry = entry.object, let network = host(entry["preferred_network"]),
            let cache = host(entry["preferred_cache"]), let names = entry["aliases"]?.array,
            !names.isEmpty, names.count <= limit
        else { return nil }
        let aliases = names.compactMap(host)
        guard aliases.count == names.count else { return nil }
        return CloudDirectory.Cloud(aliases: aliases, preferredNetwork: network, preferredCache: cache)
    }

    /// The value as a host with an optional port, in lower case, and nothing else.
    private static func host(_ value: JSONValue?) -> String? {
        guard let text = value?.text?.lowercased(), text.utf8.count <= 253,
            text.utf8.allSatisfy({ allowed.contains($0) }),
            let parts = try? URLParts("https://\(text)"), parts.environment == text
        else { return nil }
        return text
    }

    private static let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789.-:[]".utf8)
}

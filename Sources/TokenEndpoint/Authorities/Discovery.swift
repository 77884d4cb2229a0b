internal import Synchronization
package import TokenModel

extension TokenEndpointClient {
    /// The number of remembered authorities. Apps may name any number of them; beyond this one, all are forgotten.
    private static let discoveredLimit = 256

    /// Requests the aliases of the authority's cloud from a trusted host (instance discovery).
    ///
    /// An authority that is not Entra's is a cloud of its own without a request. So is one on this machine, whatever its
    /// metadata say: it is asked only whether it is an authority.
    ///
    /// - Throws: `authorityValidation` (-51600) if the authority is not known; `serverInvalidResponse` (-51401) for
    ///   metadata with wrong types or host names.
    package func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud] {
        try await withCorrelationID(correlationID) { () async throws(TokenError) in
            try requireAllowed(authority)
            guard authority.kind == .entra else { return [InstanceDiscovery.singleHost(authority)] }
            let url = InstanceDiscovery.url(for: authority)
            return try await transport.send(HTTPRequest(url: url, correlationID: correlationID)) {
                (response) throws(TokenError) in
                try InstanceDiscovery.clouds(in: response, of: authority)
            }
        }
    }

    /// The endpoints of an authority: by convention in Microsoft's clouds, else from the discovery document (OpenID Connect
    /// Discovery 1.0 section 4), which is requested once, or by convention if there is none.
    ///
    /// - Throws: `serverInvalidResponse` (-51401) if the document names an endpoint without `https`; `authorityValidation` (-51600) if the
    ///   authority does not know its tenant.
    func endpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID? = nil
    ) async throws(TokenError) -> Endpoints {
        if let endpoints = try conventionalEndpoints(of: authority, version: version) { return endpoints }
        let key = DiscoveryKey(authority: authority, version: version)
        if let known = discovered.withLock({ $0[key] }) { return known }
        return try await readEndpoints(key, correlationID)
    }

    /// The endpoints of an authority at which a user is about to sign in.
    ///
    /// The endpoints of Microsoft's clouds are known. Their discovery document is requested nevertheless, so that the app gets an error if
    /// there is no such tenant or no network: the sign-in page would show the former to the user only, and the latter not at all. For any
    /// other authority see `currentEndpoints`.
    ///
    /// - Throws: as `endpoints(of:version:)`; `networkUnavailable` (-53009) if the authority cannot be reached.
    package func signInEndpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID
    ) async throws(TokenError) -> Endpoints {
        try await withCorrelationID(correlationID) { () async throws(TokenError) in
            guard let endpoints = try conventionalEndpoints(of: authority, version: version) else {
                return try await currentEndpoints(of: authority, version: version, correlationID: correlationID)
            }
            do throws(TokenError) {
                _ = try await requestEndpoints(of: authority, version: version, correlationID)
            } catch {
                if error.preventsSignIn { throw error }
            }
            return endpoints
        }
    }

    /// The endpoints of an authority, whose discovery document is read again: the sign-in page may have moved since it was read, and the
    /// agent is not notified of that, since the browser shows a missing page to the user only. The known endpoints are used if the document
    /// cannot be read for a temporary reason.
    ///
    /// - Throws: as `signInEndpoints`.
    func currentEndpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID?
    ) async throws(TokenError) -> Endpoints {
        if let endpoints = try conventionalEndpoints(of: authority, version: version) { return endpoints }
        let key = DiscoveryKey(authority: authority, version: version)
        do throws(TokenError) {
            return try await readEndpoints(key, correlationID)
        } catch {
            guard !error.preventsSignIn, let known = discovered.withLock({ $0[key] }) else { throw error }
            return known
        }
    }

    /// The endpoints of an authority in Microsoft's clouds; nil for any other.
    private func conventionalEndpoints(
        of authority: Authority, version: OAuthVersion
    ) throws(TokenError) -> Endpoints? {
        try requireAllowed(authority)
        guard authority.kind == .entra, CloudDirectory.isBuiltIn(authority.environment) else { return nil }
        return Endpoints(byConventionOf: authority, version: version)
    }

    /// Requests the discovery document of an authority, and remembers it.
    private func readEndpoints(
        _ key: DiscoveryKey, _ correlationID: CorrelationID?
    ) async throws(TokenError) -> Endpoints {
        let endpoints = try await requestEndpoints(of: key.authority, version: key.version, correlationID)
        discovered.withLock { known in
            if known.count >= Self.discoveredLimit, known[key] == nil { known.removeAll() }
            known[key] = endpoints
        }
        return endpoints
    }

    private func requestEndpoints(
        of authority: Authority, version: OAuthVersion, _ correlationID: CorrelationID?
    ) async throws(TokenError) -> Endpoints {
        let url = Endpoints.discoveryURL(of: authority, version: version)
        return try await transport.send(HTTPRequest(url: url, correlationID: correlationID)) {
            (response) throws(TokenError) in
            try Endpoints(response, of: authority, version: version)
        }
    }

    /// Forgets the endpoints of an authority, so that its discovery document is read when they are next needed. Has no effect if that has
    /// happened already.
    func forget(_ endpoints: Endpoints, of key: DiscoveryKey) {
        discovered.withLock { known in
            if known[key] == endpoints { known[key] = nil }
        }
    }

    /// Requests the discovery document, to check for `ssoctl doctor` that the authority can be reached. Returns the time of
    /// its clock. A response that is no such document is an error: it may be the page of a captive portal.
    package func probe(_ authority: Authority) async -> Result<ServerClock, TokenError> {
        do throws(TokenError) {
            try requireAllowed(authority)
            let url = Endpoints.discoveryURL(of: authority, version: .v2)
            let clock = try await transport.send(HTTPRequest(url: url, correlationID: nil)) {
                (response) throws(TokenError) in
                // AD FS 2012 R2 has no document.
                let isMissing = response.status == 404 && authority.kind == .adfs
                guard isMissing || response.status == 200 else { throw response.unhandled }
                guard isMissing || response.json != nil else { throw response.invalid("is not a JSON object") }
                _ = try Endpoints(response, of: authority, version: .v2)
                return ServerClock(secondsSince1970: response.date)
            }
            return .success(clock)
        } catch {
            return .failure(error)
        }
    }
}

extension TokenError {
    /// Whether a sign-in must not begin after this error of the discovery document. One that is gone means that there is no such provider,
    /// policy or tenant any more.
    fileprivate var preventsSignIn: Bool {
        switch code {
        case .authorityValidation, .networkUnavailable, .cancelled: true
        case .unhandledHTTPResponse: [404, 410].contains(details.httpStatus)
        default: false
        }
    }
}

/// The key of a remembered discovery document.
struct DiscoveryKey: Hashable, Sendable {
    var authority: Authority
    var version: OAuthVersion
}

/// The clock of an authority.
package struct ServerClock: Sendable, Equatable {
    /// The header field `Date` of the response, in seconds since 1970; nil if it is missing or cannot be decoded.
    package var secondsSince1970: Int64?
}

/// Entra's instance discovery: the request and the response.
enum InstanceDiscovery {
    /// The largest number of clouds and of aliases. Microsoft's list has nine clouds with up to four aliases.
    private static let limit = 64

    /// A cloud whose only host is the authority's.
    static func singleHost(_ authority: Authority) -> CloudDirectory.Cloud {
        CloudDirectory.Cloud(
            aliases: [authority.environment], preferredNetwork: authority.environment,
            preferredCache: authority.environment)
    }

    /// The URL of the request. It goes to the authority itself if that is built in or on this machine, else to the public
    /// cloud.
    static func url(for authority: Authority) -> String {
        let asksItself = CloudDirectory.isBuiltIn(authority.environment) || authority.isLoopback
        let base = asksItself ? "\(authority.scheme)://\(authority.environment)" : "https://\(CloudDirectory.attesting)"
        var query = FormParameters()
        query.add("api-version", "1.1")
        query.add("authorization_endpoint", authority.url + "/oauth2/v2.0/authorize")
        return "\(base)/common/discovery/instance?\(query.encoded)"
    }

    /// Decodes the response. Without metadata, the authority is a cloud of its own.
    static func clouds(
        in response: HTTPResponse, of authority: Authority
    ) throws(TokenError) -> [CloudDirectory.Cloud] {
        let object = response.isOAuth ? response.json : nil
        if authority.isLoopback, response.status == 404 || (response.isOAuth && object == nil) {
            return [singleHost(authority)]
        }
        guard response.isOAuth else { throw response.unhandled }
        guard let object else { throw response.invalid("is not JSON") }
        if let error = OAuthError(object) {
            throw error.error == "invalid_instance"
                ? error.tokenError(.authorityValidation, response: response)
                : error.tokenError(response: response)
        }
        switch object["metadata"] {
        case nil, .null: return [singleHost(authority)]
        case .list(let entries) where entries.count <= limit:
            let clouds = entries.compactMap(cloud)
            guard clouds.count == entries.count else { throw malformed(response) }
            // Anybody on this machine may listen on a port: only Microsoft's clouds say which hosts are one cloud.
            return authority.isLoopback ? [singleHost(authority)] : clouds
        case .bool, .number, .text, .list, .object: throw malformed(response)
        }
    }

    private static func malformed(_ response: HTTPResponse) -> TokenError {
        response.invalid("has instance metadata with wrong types or host names")
    }

    private static func cloud(_ entry: JSONTree) -> CloudDirectory.Cloud? {
        guard let network = host(entry["preferred_network"]), let cache = host(entry["preferred_cache"]),
            let names = entry["aliases"]?.values, !names.isEmpty, names.count <= limit
        else { return nil }
        let aliases = names.compactMap(host)
        guard aliases.count == names.count else { return nil }
        return CloudDirectory.Cloud(aliases: aliases, preferredNetwork: network, preferredCache: cache)
    }

    /// Decodes a host with an optional port, in lower case.
    private static func host(_ value: JSONTree?) -> String? {
        guard let text = value?.string?.lowercased(), text.utf8.count <= 253,
            text.utf8.allSatisfy({ allowed.contains($0) }),
            let parts = try? URLParts("https://\(text)"), parts.environment == text
        else { return nil }
        return text
    }

    private static let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789.-:[]".utf8)
}

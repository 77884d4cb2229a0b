internal import Synchronization
package import TokenModel

extension TokenEndpointClient {
    /// Local apps choose authorities freely; past this many the memory of them starts over.
    private static let discoveredLimit = 256

    /// Asks a trusted host which names the authority's cloud goes by.
    ///
    /// Only Entra authorities are asked about; any other is a cloud of its own, and so is one on this machine that has
    /// no instance discovery.
    /// - Throws: `authorityValidation` when the authority is not known to be one; `serverInvalidResponse` for metadata
    ///   with wrong types or host names.
    package func discoverClouds(
        of authority: Authority, correlationID: CorrelationID
    ) async throws(TokenError) -> [CloudDirectory.Cloud] {
        try await withCorrelationID(correlationID) { () async throws(TokenError) in
            try requireAllowed(authority)
            guard authority.kind == .entra else { return [InstanceDiscovery.alone(authority)] }
            let url = InstanceDiscovery.url(for: authority)
            let response = try await transport.send(HTTPRequest(url: url, correlationID: correlationID))
            return try InstanceDiscovery.clouds(in: response, of: authority)
        }
    }

    /// Where an authority's endpoints are: by convention in Microsoft's clouds, else by OpenID Connect Discovery 1.0
    /// section 4, asked once. A provider that has no discovery document, but a convention, is taken by that.
    ///
    /// - Throws: `serverInvalidResponse` when the document names an endpoint that is no safer than `https`.
    package func endpoints(of authority: Authority, version: OAuthVersion) async throws(TokenError) -> Endpoints {
        try await endpoints(of: authority, version: version, correlationID: nil)
    }

    func endpoints(
        of authority: Authority, version: OAuthVersion, correlationID: CorrelationID?
    ) async throws(TokenError) -> Endpoints {
        try requireAllowed(authority)
        if authority.kind == .entra, CloudDirectory.isBuiltIn(authority.environment),
            let endpoints = Endpoints(byConventionOf: authority, version: version)
        {
            return endpoints
        }
        let key = DiscoveryKey(authority: authority, version: version)
        if let known = discovered.withLock({ $0[key] }) { return known }
        let url = Endpoints.discoveryURL(of: authority, version: version)
        let response = try await transport.send(HTTPRequest(url: url, correlationID: correlationID))
        let endpoints = try Endpoints(response, of: authority, version: version)
        discovered.withLock { known in
            if known.count >= Self.discoveredLimit { known.removeAll() }
            known[key] = endpoints
        }
        return endpoints
    }

    /// Whether the authority's discovery document can be had from here, for `ssoctl doctor`; and its clock.
    package func probe(_ authority: Authority) async -> Result<ServerClock, TokenError> {
        do throws(TokenError) {
            try requireAllowed(authority)
            let url = Endpoints.discoveryURL(of: authority, version: .v2)
            let response = try await transport.send(HTTPRequest(url: url, correlationID: nil))
            guard response.status == 200 else { throw response.unhandled }
            let date = response.field("Date").flatMap(HTTPDate.secondsSince1970)
            return .success(ServerClock(secondsSince1970: date))
        } catch {
            return .failure(error)
        }
    }
}

/// What a discovery document is remembered under.
struct DiscoveryKey: Hashable, Sendable {
    var authority: Authority
    var version: OAuthVersion
}

/// What time it is at an authority, as far as its answer says.
package struct ServerClock: Sendable, Equatable {
    /// The `Date` field of its answer in seconds since 1970; nil when there was none that can be read.
    package var secondsSince1970: Int64?

    package init(secondsSince1970: Int64?) {
        self.secondsSince1970 = secondsSince1970
    }
}

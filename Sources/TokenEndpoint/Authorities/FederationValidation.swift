package import TokenModel

extension TokenEndpointClient {
    /// Validates that an AD FS is trusted by the users of a domain. Their registration service, the organisation's own or
    /// else the cloud's, names their AD FS, and that names the authorities that it trusts (WebFinger, RFC 7033).
    ///
    /// - Throws: `authorityValidation` (-51600) if it is not trusted; `invalidDeveloperParameter` (-51112) if `domain`
    ///   cannot be a domain.
    package func validateFederation(
        of authority: Authority, domain: String, correlationID: CorrelationID
    ) async throws(TokenError) {
        try await withCorrelationID(correlationID) { () async throws(TokenError) in
            guard (try? URLParts("https://\(domain)"))?.environment == domain, domain.contains(".") else {
                throw TokenError(.invalidDeveloperParameter, "the user's name does not end in @ and a domain")
            }
            let farm = try await farm(of: domain, correlationID)
            guard try await isTrusted(authority, by: farm, correlationID) else {
                throw TokenError(
                    .authorityValidation, "\(farm), the AD FS of \(domain), does not trust \(authority.environment)")
            }
        }
    }

    /// Requests the host of a domain's AD FS.
    private func farm(of domain: String, _ correlationID: CorrelationID) async throws(TokenError) -> String {
        let path = "enrollmentserver/contract?api-version=1.0"
        do throws(TokenError) {
            return try await farm(at: "https://enterpriseregistration.\(domain)/\(path)", correlationID)
        } catch {
            if error.code == .cancelled { throw error }
            return try await farm(at: "https://enterpriseregistration.windows.net/\(domain)/\(path)", correlationID)
        }
    }

    private func farm(at url: String, _ correlationID: CorrelationID) async throws(TokenError) -> String {
        try await transport.send(HTTPRequest(url: url, correlationID: correlationID)) {
            (response) throws(TokenError) in try response.farm()
        }
    }

    private func isTrusted(
        _ authority: Authority, by farm: String, _ correlationID: CorrelationID
    ) async throws(TokenError) -> Bool {
        var query = FormParameters()
        query.add("resource", authority.url)
        let url = "https://\(farm)/.well-known/webfinger?\(query.encoded)"
        return try await transport.send(HTTPRequest(url: url, correlationID: correlationID)) { response in
            response.trusts(authority)
        }
    }
}

extension HTTPResponse {
    /// The host of the AD FS that a registration service names.
    ///
    /// - Throws: `authorityValidation` (-51600) if it names none.
    func farm() throws(TokenError) -> String {
        guard status == 200, let url = json?["IdentityProviderService"]?.text("PassiveAuthEndpoint"),
            let parts = try? URLParts(url), parts.scheme == "https"
        else { throw TokenError(.authorityValidation, "\(endpoint) names no AD FS (HTTP status \(status))") }
        return parts.environment
    }

    /// Whether the WebFinger response of an AD FS names an authority among those that it trusts (RFC 7033).
    func trusts(_ authority: Authority) -> Bool {
        guard status == 200, let links = json?["links"]?.values else { return false }
        return links.contains { link in
            link.text("rel")?.lowercased() == Self.trustedRealm
                && link.text("href").flatMap { try? URLParts($0) }?.environment == authority.environment
        }
    }

    private static let trustedRealm = "http://schemas.microsoft.com/rel/trusted-realm"
}

internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

extension CacheOwner {
    /// Why these parameters are not served, if they are not, whatever the cache holds.
    func refusal(of parameters: TokenParameters) -> TokenError? {
        let authority = parameters.authority
        guard ValueLimits.isIdentifier(parameters.clientID.text), ValueLimits.isIdentifier(authority.realm),
            authority.url.utf8.count <= ValueLimits.authority, ValueLimits.isPrintable(authority.url)
        else {
            return TokenError(
                .invalidDeveloperParameter,
                "a client ID or a realm is longer than \(ValueLimits.identifier) bytes, an authority longer than "
                    + "\(ValueLimits.authority), or one of them has control characters")
        }
        if authority.scheme == "http", !options.allowsLoopbackHTTP {
            return TokenError(
                .invalidDeveloperParameter,
                "\(authority) is not https; for an emulator on this machine start sso-agent with --allow-loopback-http")
        }
        guard parameters.validatesAuthority else { return nil }
        switch authority.kind {
        case .entra: return findings.refusal(of: authority.environment, now: options.now())
        case .b2c where !CloudDirectory.isBuiltIn(authority.environment) && !authority.isLoopback:
            return TokenError(
                .unsupportedFunctionality,
                "there is nobody to validate \(authority.environment) with; name \(authority) among the known authorities"
            )
        case .b2c, .adfs, .ciam, .openID: return nil
        }
    }

    /// The authority that an app's request has led to: its own, or the same tenant in the cloud that an answer names, if the app
    /// is ready for that. Only known clouds count: the answer may have come from anywhere.
    func authority(_ parameters: TokenParameters, at asked: Authority? = nil, movedTo name: String?) -> Authority {
        let asked = asked ?? parameters.authority
        guard parameters.isInstanceAware, asked.kind == .entra, let name = name?.lowercased(),
            // `login.microsoftonline.us`, or `microsoftonline.us` for short.
            let host = [name, "login.\(name)"].first(where: { cache.clouds.knows($0) }),
            !cache.clouds.sameCloud(host, asked.environment)
        else { return asked }
        return asked.withEnvironment(host)
    }

    /// Learns the names of the authority's cloud, once for everybody who asks meanwhile.
    func discover(_ authority: Authority, _ parameters: TokenParameters) async throws(TokenError) {
        guard case .failure(let error) = await discovery(of: authority, parameters.correlationID) else { return }
        guard error.code != .serverInvalidResponse else { throw error }
        // An app that vouches for its authority, or runs it on this machine, needs nobody's word for it.
        guard !parameters.validatesAuthority || authority.isLoopback else { throw error }
    }

    private func discovery(
        of authority: Authority, _ correlationID: CorrelationID
    ) async -> Result<Void, TokenError> {
        let environment = authority.environment
        let discovery =
            findings.discoveries[environment]
            ?? later { owner async throws(TokenError) in
                defer { owner.findings.discoveries[environment] = nil }
                do throws(TokenError) {
                    let clouds = try await owner.endpoint.discoverClouds(of: authority, correlationID: correlationID)
                    await owner.learn(clouds, from: environment)
                } catch {
                    if error.code == .authorityValidation {
                        owner.findings.remember(error, about: environment, now: owner.options.now())
                    }
                    throw error
                }
            }
        findings.discoveries[environment] = discovery
        do {
            return try await discovery.get()
        } catch {
            return .failure(TokenError(.cancelled, "the agent is stopping"))
        }
    }

    func needsValidation(_ authority: Authority, _ parameters: TokenParameters) -> Bool {
        parameters.validatesAuthority && !authority.isLoopback
            && !findings.validatedFarms.contains(authority.environment)
    }

    /// Finds out whether an AD FS is the one of the user's organisation.
    func validate(
        _ authority: Authority, _ parameters: TokenParameters, _ username: String?
    ) async throws(TokenError) {
        let parts = (username ?? "").lowercased().split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let domain = parts.last?.trimmedNonEmpty else {
            throw TokenError(
                .invalidDeveloperParameter,
                "to validate \(authority), name the user by user principal name, such as user@contoso.com")
        }
        try await endpoint.validateFederation(
            of: authority, domain: domain, correlationID: parameters.correlationID)
        findings.validatedFarms.insert(authority.environment)
    }
}

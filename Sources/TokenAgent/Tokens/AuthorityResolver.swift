internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

/// Validates authorities, and determines the host that requests to an authority are sent to.
///
/// The results are kept until the agent stops; clouds learnt by instance discovery are part of the cache, and are stored. Used on
/// the actor of `CacheOwner` only.
final class AuthorityResolver {
    private let memory: CacheMemory
    private let answers: AnswerChanges
    private let commits: CommitQueue
    private let service: any TokenService
    private let tasks: TaskTracker
    private let now: @Sendable () -> Int64
    /// The instance discoveries in progress, by the host asked about; concurrent requests share one.
    private var discoveries: [String: EventLoopFuture<Result<Void, TokenError>>] = [:]
    /// The AD FS hosts that have been validated, with the domain that has vouched for each.
    private var validatedFarms: Set<ValidatedFarm> = []

    private struct ValidatedFarm: Hashable {
        var host: String
        var domain: String
    }

    /// The hosts that instance discovery does not know, with its error and the times at which it is not asked again.
    private var unknownHosts: [String: (error: TokenError, times: Range<Int64>)] = [:]

    init(
        memory: CacheMemory, answers: AnswerChanges, commits: CommitQueue, service: any TokenService,
        tasks: TaskTracker,
        now: @escaping @Sendable () -> Int64
    ) {
        self.memory = memory
        self.answers = answers
        self.commits = commits
        self.service = service
        self.tasks = tasks
        self.now = now
    }

    /// The error of requests with these parameters, independent of the cache; nil if they are allowed.
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
        if authority.scheme == "http", !service.allowsLoopbackHTTP { return .withoutTLS(authority) }
        guard parameters.hasValidClaims else {
            return TokenError(
                .invalidDeveloperParameter,
                "the claims are not a JSON object; those in the header of an API are in base64, and have to be decoded")
        }
        guard parameters.validatesAuthority else { return nil }
        switch authority.kind {
        case .entra:
            guard !unknownHosts.isEmpty, let known = unknownHosts[authority.environment],
                known.times.contains(now())
            else { return nil }
            return known.error
        case .b2c where !CloudDirectory.isBuiltIn(authority.environment) && !authority.isLoopback:
            return TokenError(
                .unsupportedFunctionality,
                "\(authority.environment) cannot be validated; name \(authority) among the known authorities"
            )
        case .b2c, .adfs, .ciam, .openID: return nil
        }
    }

    /// Validates an authority, and returns it with the host name that its cloud prefers for requests.
    ///
    /// For an unknown Entra host, instance discovery is asked once. An AD FS farm has to belong to the domain of `username`. An
    /// authority that is known already needs no network.
    ///
    /// - Throws: `authorityValidation` (-51600) for a host that is no authority, unless the app has disabled validation;
    ///   `serverInvalidResponse` (-51401) for a malformed discovery document, even then.
    func resolve(
        _ authority: Authority, _ parameters: TokenParameters, username: String?
    ) async throws(TokenError) -> Authority {
        switch authority.kind {
        case .entra where !memory.cache.clouds.knows(authority.environment): try await discover(authority, parameters)
        case .adfs where needsValidation(authority, parameters, username):
            try await validate(authority, parameters, username)
        default: break
        }
        return memory.cache.clouds.networkAuthority(of: authority)
    }

    /// The authority that has answered a request: the requested one or, for an instance-aware app, the same tenant in
    /// the cloud that the response names. The named cloud is ignored if it is not known, since the response may be
    /// forged, and if its accounts belong to another issuer, which this provider may not name.
    func authority(_ parameters: TokenParameters, at requested: Authority? = nil, movedTo name: String?) -> Authority {
        let requested = requested ?? parameters.authority
        let clouds = memory.cache.clouds
        guard parameters.isInstanceAware, requested.kind == .entra, let name = name?.lowercased(),
            // The name is `login.microsoftonline.us` or, without its first label, `microsoftonline.us`.
            let host = [name, "login.\(name)"].first(where: { clouds.knows($0) }),
            !clouds.sameCloud(host, requested.environment)
        else { return requested }
        let moved = requested.withEnvironment(host)
        return clouds.issuer(of: moved) == clouds.issuer(of: requested) ? moved : requested
    }

    /// The request that redeems a grant of the user or of the app at a resolved authority. It is sent to hosts of the authority's
    /// own cloud only.
    func tokenRequest(_ grant: Grant, at authority: Authority, _ parameters: TokenParameters) -> TokenRequest {
        let hosts: Set<String>? =
            switch authority.kind {
            case .entra: hosts(of: authority)
            case .b2c, .adfs, .ciam: [authority.environment]
            // The discovery document names the host, and its issuer is checked.
            case .openID: nil
            }
        return tokenRequest(grant, at: authority, parameters, hosts)
    }

    /// The hosts of the cloud of an Entra authority, if it is one of Microsoft's: built in, or named by instance discovery, which asks
    /// Microsoft. Empty for a host that is not known, of an app that has disabled validation, and for other kinds of authorities.
    func cloudHosts(of authority: Authority) -> Set<String> {
        guard authority.kind == .entra, memory.cache.clouds.knows(authority.environment) else { return [] }
        return hosts(of: authority)
    }

    private func hosts(of authority: Authority) -> Set<String> {
        Set(memory.cache.clouds.cloud(of: authority.environment).aliases + [authority.environment])
    }

    /// The request that redeems a refresh token at a resolved authority; nil if the token is not bound to that authority. It is
    /// sent to the token endpoint that has issued the token, as its binding names it, and to no other.
    func tokenRequest(
        redeeming token: RefreshTokenRecord, at authority: Authority, _ parameters: TokenParameters
    ) -> TokenRequest? {
        guard let binding = token.binding, memory.cache.clouds.isBound(binding, to: authority) else { return nil }
        return tokenRequest(
            .refreshToken(token.secret), at: authority, parameters, binding.endpoints(of: token.account))
    }

    private func tokenRequest(
        _ grant: Grant, at authority: Authority, _ parameters: TokenParameters, _ endpoints: Set<String>?
    ) -> TokenRequest {
        TokenRequest(
            grant: grant, clientID: parameters.clientID, authority: authority, version: parameters.version,
            scopes: parameters.scopes, claims: parameters.mergedClaims, redirectURI: parameters.redirectURI,
            extraParameters: parameters.extraParameters, correlationID: parameters.correlationID,
            allowedEndpoints: endpoints)
    }

    /// Learns the host names of the authority's cloud from instance discovery.
    private func discover(_ authority: Authority, _ parameters: TokenParameters) async throws(TokenError) {
        do throws(TokenError) {
            try await discovery(of: authority, parameters.correlationID).outcome()
        } catch {
            guard error.code != .serverInvalidResponse else { throw error }
            // An app may disable the validation, and no cloud knows an emulator on this machine.
            guard !parameters.validatesAuthority || authority.isLoopback else { throw error }
        }
    }

    /// The instance discovery in progress for an authority's host; begins one if there is none.
    private func discovery(
        of authority: Authority, _ correlationID: CorrelationID
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        let environment = authority.environment
        if let discovery = discoveries[environment] { return discovery }
        let discovery = tasks.start { () async throws(TokenError) in
            defer { self.discoveries[environment] = nil }
            do throws(TokenError) {
                let clouds = try await self.service.discoverClouds(of: authority, correlationID: correlationID)
                await self.learn(clouds, about: environment)
            } catch {
                // A host of this machine is used all the same.
                if error.code == .authorityValidation, !authority.isLoopback {
                    self.cacheError(error, about: environment)
                }
                throw error
            }
        }
        discoveries[environment] = discovery
        return discovery
    }

    /// Stores learnt clouds, so that cached tokens need no network after the next start. A failed write fails no request: it is
    /// repeated later.
    private func learn(_ clouds: [CloudDirectory.Cloud], about environment: String) async {
        guard memory.learn(clouds, about: environment) else { return }
        let changes = memory.cache.clouds.learnt.compactMap { CloudRecord($0).stored }
        guard !changes.isEmpty else { return }
        try? await commits.write(changes.map(StoreChange.put))
    }

    /// Caches the error for a host that is no authority, so that not every request causes a discovery.
    private func cacheError(_ error: TokenError, about environment: String) {
        // The number is limited, since apps can name any host.
        if unknownHosts.count >= Self.unknownHostLimit { unknownHosts.removeAll() }
        let now = now()
        unknownHosts[environment] = (error, now..<now + Self.unknownHostLifetime)
        answers.end(.ofHost(environment))
    }

    /// Whether an AD FS farm has to be validated for the domain of the user. A validation for another domain does not count, and none does
    /// for a request that names no domain: whoever owns a domain can have it vouch for any host, and any app can name that domain.
    private func needsValidation(_ authority: Authority, _ parameters: TokenParameters, _ username: String?) -> Bool {
        guard parameters.validatesAuthority, !authority.isLoopback else { return false }
        guard let domain = Self.domain(of: username) else { return true }
        return !validatedFarms.contains(ValidatedFarm(host: authority.environment, domain: domain))
    }

    /// Whether a text is a user principal name.
    static func hasDomain(_ username: String) -> Bool { domain(of: username) != nil }

    /// The domain of a user principal name; nil if the text is none.
    private static func domain(of username: String?) -> String? {
        let parts = (username ?? "").lowercased().split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[1].trimmedNonEmpty : nil
    }

    /// Checks that an AD FS farm belongs to the domain of the user.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if the request names no domain.
    private func validate(
        _ authority: Authority, _ parameters: TokenParameters, _ username: String?
    ) async throws(TokenError) {
        guard let domain = Self.domain(of: username) else {
            throw TokenError(
                .invalidDeveloperParameter,
                "to validate \(authority), name the user by user principal name, such as user@contoso.com")
        }
        try await service.validateFederation(of: authority, domain: domain, correlationID: parameters.correlationID)
        if validatedFarms.count >= Self.validatedFarmLimit { validatedFarms.removeAll() }
        validatedFarms.insert(ValidatedFarm(host: authority.environment, domain: domain))
    }

    /// In seconds; limited, since an agent runs for weeks and the host may become known.
    private static let unknownHostLifetime: Int64 = 3600
    private static let unknownHostLimit = 256
    private static let validatedFarmLimit = 256
}

extension TokenParameters {
    /// The claims request with the client capabilities added as `access_token.xms_cc.values`; nil if there is neither.
    ///
    /// Claims that an app gives as a further parameter are a part of it: the form has one field for them.
    var mergedClaims: String? {
        guard !capabilities.isEmpty, let request = ClaimsRequestJSON(ownClaims ?? "") else { return ownClaims }
        return request.adding(capabilities: capabilities)
    }

    /// Whether the claims request of the app, if there is one, can be sent. A provider would refuse it, and the user would be asked to sign
    /// in for a mistake of the app.
    fileprivate var hasValidClaims: Bool { ownClaims.map { ClaimsRequestJSON($0) != nil } ?? true }

    /// The claims request of the app; nil if there is none.
    private var ownClaims: String? { claims ?? extraParameters["claims"] }
}

internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decides which authorities are served, and under which host name a request to one goes out.
///
/// It remembers what it has found out since the agent started. Clouds that were learnt are in the cache, and outlive it.
/// Used on the actor of `CacheOwner` only.
final class AuthorityResolver {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let service: any TokenService
    private let tasks: TaskTracker
    private let now: @Sendable () -> Int64
    private let allowsLoopbackHTTP: Bool
    /// Instance discoveries under way, by the host asked about, which everyone who asks meanwhile shares.
    private var discoveries: [String: EventLoopFuture<Result<Void, TokenError>>] = [:]
    /// AD FS hosts that were found to belong to their users' organisations.
    private var validatedFarms: Set<String> = []
    private var unknownHosts: [String: (error: TokenError, until: Int64)] = [:]

    init(
        memory: CacheMemory, commits: CommitQueue, service: any TokenService, tasks: TaskTracker,
        now: @escaping @Sendable () -> Int64, allowsLoopbackHTTP: Bool
    ) {
        self.memory = memory
        self.commits = commits
        self.service = service
        self.tasks = tasks
        self.now = now
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
    }

    /// Why requests with these parameters are not served, whatever the cache holds; nil if they are.
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
        if authority.scheme == "http", !allowsLoopbackHTTP {
            return TokenError(
                .invalidDeveloperParameter,
                "\(authority) is not https; for an emulator on this machine start sso-agent with --allow-loopback-http")
        }
        guard parameters.validatesAuthority else { return nil }
        switch authority.kind {
        case .entra:
            guard !unknownHosts.isEmpty, let known = unknownHosts[authority.environment], now() < known.until else {
                return nil
            }
            return known.error
        case .b2c where !CloudDirectory.isBuiltIn(authority.environment) && !authority.isLoopback:
            return TokenError(
                .unsupportedFunctionality,
                "there is nobody to validate \(authority.environment) with; name \(authority) among the known authorities"
            )
        case .b2c, .adfs, .ciam, .openID: return nil
        }
    }

    /// The authority under the host name that its cloud wants requests at, once it is known to be an authority.
    ///
    /// Asks instance discovery once for an Entra host that is not known. An AD FS has to belong to the user's organisation,
    /// which `username` tells. What is known needs no network.
    ///
    /// - Throws: `authorityValidation` (-51600) for a host that is no authority, unless the app vouches for it;
    ///   `serverInvalidResponse` (-51401) for a discovery document that makes no sense, even then.
    func resolve(
        _ authority: Authority, _ parameters: TokenParameters, username: String?
    ) async throws(TokenError) -> Authority {
        switch authority.kind {
        case .entra where !memory.cache.clouds.knows(authority.environment): try await discover(authority, parameters)
        case .adfs where needsValidation(authority, parameters): try await validate(authority, parameters, username)
        default: break
        }
        return authority.withEnvironment(memory.cache.clouds.cloud(of: authority.environment).preferredNetwork)
    }

    /// The authority that an app's request has led to: its own, or the same tenant in the cloud that a response names, if the
    /// app is prepared for that. Only known clouds count: the response may have come from anywhere.
    func authority(_ parameters: TokenParameters, at asked: Authority? = nil, movedTo name: String?) -> Authority {
        let asked = asked ?? parameters.authority
        let clouds = memory.cache.clouds
        guard parameters.isInstanceAware, asked.kind == .entra, let name = name?.lowercased(),
            // `login.microsoftonline.us`, or `microsoftonline.us` for short.
            let host = [name, "login.\(name)"].first(where: { clouds.knows($0) }),
            !clouds.sameCloud(host, asked.environment)
        else { return asked }
        return asked.withEnvironment(host)
    }

    /// The request that trades a grant at a resolved authority. A refresh token goes nowhere but to the authority's own cloud.
    func tokenRequest(_ grant: Grant, at authority: Authority, _ parameters: TokenParameters) -> TokenRequest {
        let allowed: Set<String>? =
            switch authority.kind {
            case .entra:
                Set(memory.cache.clouds.cloud(of: authority.environment).aliases + [authority.environment])
            case .b2c, .adfs, .ciam: [authority.environment]
            // Its discovery document decides, and names its issuer.
            case .openID: nil
            }
        return TokenRequest(
            grant: grant, clientID: parameters.clientID, authority: authority, version: parameters.version,
            scopes: parameters.scopes, claims: parameters.mergedClaims, redirectURI: parameters.redirectURI,
            extraParameters: parameters.extraParameters, correlationID: parameters.correlationID,
            allowedEnvironments: allowed)
    }

    /// Learns the names of the authority's cloud, once for everyone who asks meanwhile.
    private func discover(_ authority: Authority, _ parameters: TokenParameters) async throws(TokenError) {
        do throws(TokenError) {
            try await discovery(of: authority, parameters.correlationID).outcome()
        } catch {
            guard error.code != .serverInvalidResponse else { throw error }
            // An app may vouch for its authority, or run it on this machine.
            guard !parameters.validatesAuthority || authority.isLoopback else { throw error }
        }
    }

    private func discovery(
        of authority: Authority, _ correlationID: CorrelationID, isolation: isolated (any Actor)? = #isolation
    ) -> EventLoopFuture<Result<Void, TokenError>> {
        let environment = authority.environment
        if let discovery = discoveries[environment] { return discovery }
        let discovery = tasks.start { () async throws(TokenError) in
            defer { self.discoveries[environment] = nil }
            do throws(TokenError) {
                let clouds = try await self.service.discoverClouds(of: authority, correlationID: correlationID)
                await self.learn(clouds, from: environment)
            } catch {
                if error.code == .authorityValidation { self.remember(error, about: environment) }
                throw error
            }
        }
        discoveries[environment] = discovery
        return discovery
    }

    /// Remembers learnt clouds, so that the next start needs no network for a cached token. No request fails if they cannot
    /// be written: the next commit tries again.
    private func learn(_ clouds: [CloudDirectory.Cloud], from environment: String) async {
        guard memory.learn(clouds, from: environment) else { return }
        var changes: [StoreChange] = []
        for cloud in memory.cache.clouds.learnt {
            guard let body = try? JSONEncoder().encode(cloud) else { continue }
            let key = RecordKey(group: "", kind: .cloud, key: cloud.preferredCache)
            changes.append(.put(StoredRecord(key: key, body: Array(body))))
        }
        try? await commits.write(changes)
    }

    /// Remembers for a while that a host is no authority, so that it is not asked about with each request.
    private func remember(_ error: TokenError, about environment: String) {
        // Local apps choose authorities freely.
        if unknownHosts.count >= Self.unknownHostLimit { unknownHosts.removeAll() }
        unknownHosts[environment] = (error, now() + Self.unknownHostLifetime)
    }

    private func needsValidation(_ authority: Authority, _ parameters: TokenParameters) -> Bool {
        parameters.validatesAuthority && !authority.isLoopback && !validatedFarms.contains(authority.environment)
    }

    /// Finds out whether an AD FS belongs to the user's organisation.
    private func validate(
        _ authority: Authority, _ parameters: TokenParameters, _ username: String?
    ) async throws(TokenError) {
        let parts = (username ?? "").lowercased().split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let domain = parts.last?.trimmedNonEmpty else {
            throw TokenError(
                .invalidDeveloperParameter,
                "to validate \(authority), name the user by user principal name, such as user@contoso.com")
        }
        try await service.validateFederation(of: authority, domain: domain, correlationID: parameters.correlationID)
        validatedFarms.insert(authority.environment)
    }

    /// In seconds. An agent runs for weeks, in which an authority may come to be.
    private static let unknownHostLifetime: Int64 = 3600
    private static let unknownHostLimit = 256
}

extension TokenParameters {
    /// The claims request with the client capabilities in it, as `access_token.xms_cc.values`; nil when there is neither.
    var mergedClaims: String? {
        guard !capabilities.isEmpty else { return claims }
        return ClaimsRequestJSON(claims ?? "").adding(capabilities: capabilities) ?? claims
    }
}

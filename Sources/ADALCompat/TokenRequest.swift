internal import AgentClient
internal import Dispatch
internal import Foundation
internal import TokenModel

/// One call of `acquireToken` or `acquireTokenSilent`: what the app asked for, as it asked, and the settings of that moment.
package struct TokenRequest: Sendable {
    /// What the result repeats.
    package struct Target: Sendable {
        package var resource: String
        package var clientID: String
        var authority: CanonicalAuthority
    }

    let agent: AgentClient
    let presenter: SignInPresenter?
    let session: InteractiveSession
    var target: Target
    let sharingGroup: SharingGroup
    let tokenCache: ADTokenCache?
    /// Nil for an assertion, which needs none.
    let redirectURI: String?
    let validatesAuthority: Bool
    let capabilities: [String]
    let allowsExtendedLifetime: Bool
    let expirationBuffer: Int64
    let log: ADLog
    let correlationID: CorrelationID

    /// Nil for a silent request, and for one with a grant.
    var prompt: ADPromptBehavior?
    /// What the app holds itself to get a token for.
    var grant: Grant?
    var identifier: ADUserIdentifier?
    var forceRefresh = false
    var claims: String?
    var queryParameters: String?

    init(_ context: ADAuthenticationContext, resource: String, clientID: String, redirectURI: URL?) {
        agent = context.agent
        presenter = context.presenter
        session = context.interactiveSession
        target = Target(
            resource: resource.trimmedNonEmpty ?? "", clientID: clientID.trimmedNonEmpty ?? "",
            authority: context.canonicalAuthority)
        sharingGroup = context.sharingGroup
        tokenCache = context.tokenCache
        self.redirectURI = redirectURI?.absoluteString
        validatesAuthority = context.validateAuthority
        capabilities = context.clientCapabilities ?? []
        allowsExtendedLifetime = context.extendedLifetimeEnabled
        expirationBuffer = Int64(ADAuthenticationSettings.sharedInstance().expirationBuffer)
        correlationID = context.correlationId.map { CorrelationID($0) } ?? CorrelationID()
        log = ADLog(component: context.logComponent, correlationID: correlationID)
    }

    /// Runs the request and calls back once.
    func run(_ completion: @escaping @Sendable (ADAuthenticationResult) -> Void) {
        // Unstructured on purpose: a completion block has no caller that waits for it.
        Task {
            let outcome = await outcome()
            // Not on Swift's own threads: a block that waits for another request would starve them.
            DispatchQueue.global().async { completion(result(outcome)) }
        }
    }

    /// Runs the request.
    func run() async -> ADAuthenticationResult { result(await outcome()) }

    private func outcome() async -> Result<TokenResult, ADAuthenticationError> {
        log.began(self)
        await tell { $0.announceAccess() }
        do throws(ADAuthenticationError) {
            let token = try await acquire()
            log.succeeded(token)
            if !token.isFromCache { await tell { $0.announceWrite() } }
            return .success(token)
        } catch {
            log.failed(error)
            return .failure(error)
        }
    }

    /// Tells the cache's delegate something. It may block, and so not on one of Swift's own threads.
    private func tell(_ body: @escaping @Sendable (ADTokenCache) -> Void) async {
        guard let tokenCache, tokenCache.delegate != nil else { return }
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                body(tokenCache)
                done.resume()
            }
        }
    }

    private func acquire() async throws(ADAuthenticationError) -> TokenResult {
        if let grant { return try await acquire(grant) }
        guard let prompt else { return try await acquireSilently() }
        return try await acquire(prompt)
    }

    private func result(_ outcome: Result<TokenResult, ADAuthenticationError>) -> ADAuthenticationResult {
        switch outcome {
        case .success(let token): ADAuthenticationResult(token, for: target)
        case .failure(let error): ADAuthenticationResult(error, correlationID: correlationID)
        }
    }
}

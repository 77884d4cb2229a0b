internal import AgentClient
internal import CompatSupport
internal import Dispatch
internal import Foundation
internal import TokenModel

/// One call of `acquireToken` or `acquireTokenSilent`: its arguments, and the settings at the time of the call.
package struct TokenAcquisition: Sendable {
    /// The arguments that the result repeats.
    package struct Target: Sendable, Equatable {
        package var resource: String
        package var clientID: String
        var authority: CanonicalAuthority

        /// Equal if the bytes are.
        package static func == (left: Self, right: Self) -> Bool {
            left.resource.hasSameBytes(as: right.resource) && left.clientID.hasSameBytes(as: right.clientID)
                && left.authority == right.authority
        }
    }

    let agent: AgentClient
    let presenter: SignInPresenter?
    let currentSignIn: CurrentSignIn
    var target: Target
    let sharingGroup: SharingGroup
    let tokenCache: ADTokenCache?
    /// The redirect URI; nil for an assertion, which is redeemed without one.
    let redirectURI: String?
    let validatesAuthority: Bool
    let capabilities: [String]
    let allowsExtendedLifetime: Bool
    let expirationBuffer: Int64
    let log: ADLog
    let correlationID: CorrelationID

    /// The prompt behavior; nil for a silent request and for one with a grant.
    var prompt: ADPromptBehavior?
    /// The refresh token or assertion that the app holds.
    var grant: AppGrant?
    var identifier: ADUserIdentifier?
    var forceRefresh = false
    var claims: String?
    var queryParameters: String?

    init(_ context: ADAuthenticationContext, resource: String, clientID: String, redirectURI: URL?) {
        agent = context.agent
        presenter = context.presenter
        currentSignIn = context.currentSignIn
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

    /// Runs the request and calls `completion` once, on a background thread.
    ///
    /// In a copy (`fork`) of the process, where tasks and queues may never run, the request fails, on the calling thread.
    func run(_ completion: @escaping @Sendable (ADAuthenticationResult) -> Void) {
        if let error = AgentClient.errorOfCopiedProcess {
            return completion(result(.failure(ADAuthenticationError(error))))
        }
        // Unstructured, because nothing waits for a completion block.
        Task {
            let outcome = await outcome()
            // Outside of Swift's cooperative pool, which a block that waits for another request would starve.
            DispatchQueue.global().async { completion(result(outcome)) }
        }
    }

    /// Runs the request and returns its result.
    func run() async -> ADAuthenticationResult {
        let request = silentRequest()
        if let request, !hasDelegate, !Task.isCancelled, let token = agent.keptResult(for: request) {
            log.logStart(self)
            log.logSuccess(token)
            return ADAuthenticationResult(token, for: target)
        }
        return result(await outcome(request))
    }

    /// - Parameter request: the request, if it is known that nothing else is to be done.
    private func outcome(_ request: AcquireTokenSilent? = nil) async -> Result<TokenResult, ADAuthenticationError> {
        log.logStart(self)
        await notify { $0.announceAccess() }
        do throws(ADAuthenticationError) {
            let token = if let request { try await acquireSilently(request) } else { try await acquire() }
            log.logSuccess(token)
            if token.makesArchivesOutdated { await notify { $0.announceWrite() } }
            return .success(token)
        } catch {
            log.logFailure(error)
            // The tokens of the user who has signed in instead are saved.
            if error.isOfAnotherUser { await notify { $0.announceWrite() } }
            return .failure(error)
        }
    }

    /// Notifies the cache's delegate, if there is one.
    private func notify(_ body: @escaping @Sendable (ADTokenCache) -> Void) async {
        guard let tokenCache, hasDelegate else { return }
        await runBlockingAppCode { body(tokenCache) }
    }

    /// Notifies the cache's delegate if the request that has failed with this error has changed the cache.
    private func notify(of error: TokenError) async {
        if error.details.hasChangedCache { await notify { $0.announceWrite() } }
    }

    private var hasDelegate: Bool { tokenCache?.delegate != nil }

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

extension TokenAcquisition {
    /// Acquires a token from the cache or by redeeming a refresh token.
    func acquireSilently() async throws(ADAuthenticationError) -> TokenResult {
        try await acquireSilently(try parameters())
    }

    func acquireSilently(_ parameters: TokenParameters) async throws(ADAuthenticationError) -> TokenResult {
        do throws(TokenError) {
            let account = if let namedAccount { namedAccount } else { try await account(parameters) }
            return try await agent.acquireTokenSilent(silentRequest(parameters, account))
        } catch {
            throw await silentFailure(error)
        }
    }

    private func acquireSilently(_ request: AcquireTokenSilent) async throws(ADAuthenticationError) -> TokenResult {
        do throws(TokenError) {
            return try await agent.acquireTokenSilent(request)
        } catch {
            throw await silentFailure(error)
        }
    }

    /// Converts the error of a silent request, and notifies the cache's delegate if the request has changed the cache.
    private func silentFailure(_ error: TokenError) async -> ADAuthenticationError {
        await notify(of: error)
        return .silent(error)
    }

    /// The request of a silent acquisition. Nil for any other acquisition, if the account has to be looked up, and if
    /// an argument is not valid.
    private func silentRequest() -> AcquireTokenSilent? {
        guard grant == nil, prompt == nil, let namedAccount, let parameters = try? parameters() else { return nil }
        return silentRequest(parameters, namedAccount)
    }

    private func silentRequest(_ parameters: TokenParameters, _ account: AccountReference) -> AcquireTokenSilent {
        // A cached token was not issued for this claims request.
        AcquireTokenSilent(
            parameters: parameters, account: account, forceRefresh: forceRefresh || parameters.claims != nil,
            expirationBuffer: expirationBuffer, allowsExtendedLifetime: allowsExtendedLifetime)
    }

    /// The account that the identifier names, an empty reference without an identifier; nil for an object ID.
    private var namedAccount: AccountReference? {
        if let identifier, identifier.type == UniqueId, identifier.userId != nil { return nil }
        return AccountReference(username: identifier?.userId)
    }

    /// Looks up the account with the object ID that the identifier is.
    private func account(_ parameters: TokenParameters) async throws(TokenError) -> AccountReference {
        guard let id = identifier?.userId else { return AccountReference() }
        // The agent finds accounts by username, so that an object ID has to be looked up first.
        let accounts = try await agent.listAccounts(
            ListAccounts(clientID: parameters.clientID, sharingGroup: sharingGroup, localAccountID: id))
        return accounts.count == 1 ? accounts[0].reference : AccountReference(username: id)
    }
}

extension TokenAcquisition {
    /// Acquires a token silently unless the prompt behavior forbids it, else by a sign-in.
    func acquire(_ prompt: ADPromptBehavior) async throws(ADAuthenticationError) -> TokenResult {
        let (parameters, query) = (try parameters(), try decodedQuery())
        if prompt == AD_PROMPT_AUTO {
            do throws(ADAuthenticationError) {
                return try await acquireSilently(parameters)
            } catch {
                guard error.invitesInteraction else { throw error }
            }
        }
        let token = try await signIn(parameters, prompt, query)
        try check(token)
        return token
    }

    private func signIn(
        _ parameters: TokenParameters, _ prompt: ADPromptBehavior, _ query: [String: String]
    ) async throws(ADAuthenticationError) -> TokenResult {
        var parameters = parameters
        parameters.claims = parameters.claims ?? query["claims"]
        parameters.extraParameters = query.filter { $0.key != "claims" }
        let hint = identifier.flatMap { $0.isDisplayable() ? $0.userId : nil }
        let request = BeginInteractive(parameters: parameters, prompt: prompt.parameter, loginHint: hint)
        let (agent, presenter) = (agent, presenter ?? SignInPresenter())
        log.logRedirect(BrowserRedirect(parameters.redirectURI))
        do throws(TokenError) {
            return try await currentSignIn.run(refusal: "another sign-in is in progress") { () throws(TokenError) in
                try await agent.signIn(request, presenter: presenter)
            }
        } catch {
            await notify(of: error)
            throw ADAuthenticationError(error)
        }
    }

    /// Throws `ERROR_SERVER_WRONG_USER` (204) if another user signed in than the one requested. If the request or the
    /// ID token names no user, nothing is compared. The tokens stay in the cache, since that user did sign in.
    func check(_ token: TokenResult) throws(ADAuthenticationError) {
        guard identifier?.userId != nil, let idToken = token.idToken,
            let info = ADUserInformation(idToken: idToken, homeAccountID: token.account.homeAccountID?.text)
        else { return }
        guard ADUserIdentifier.identifier(identifier, matchesInfo: info) else {
            throw ADAuthenticationError(.ERROR_SERVER_WRONG_USER, "another user signed in than the one requested")
        }
    }
}

extension ADPromptBehavior {
    /// The `prompt` parameter (OpenID Connect Core 1.0 section 3.1.2.1, and Entra's own `refresh_session`).
    fileprivate var parameter: String? {
        switch self {
        case AD_PROMPT_ALWAYS, AD_FORCE_PROMPT: "login"
        case AD_PROMPT_REFRESH_SESSION: "refresh_session"
        default: nil
        }
    }
}

extension TokenAcquisition {
    /// A grant that the app holds.
    enum AppGrant: Sendable {
        case refreshToken(String)
        case assertion(String, ADAssertionType)
    }

    /// Acquires a token for a grant that the app holds.
    func acquire(_ grant: AppGrant) async throws(ADAuthenticationError) -> TokenResult {
        let parameters = try parameters()
        switch grant {
        case .refreshToken(let token):
            guard token.trimmedNonEmpty != nil else { throw .invalidArgument("refreshToken must not be blank") }
            do throws(TokenError) {
                return try await redeem(token, .refreshToken, parameters)
            } catch {
                await notify(of: error)
                throw .refreshing(error)
            }
        case .assertion(let assertion, let type):
            let kind = try type.kind
            guard assertion.trimmedNonEmpty != nil else { throw .invalidArgument("assertion must not be blank") }
            do throws(ADAuthenticationError) {
                return try await acquireSilently(parameters)
            } catch {
                guard error.invitesInteraction else { throw error }
            }
            let token = try await redeemAssertion(assertion, kind, parameters)
            try check(token)
            return token
        }
    }

    private func redeemAssertion(
        _ assertion: String, _ kind: RedeemGrant.Kind, _ parameters: TokenParameters
    ) async throws(ADAuthenticationError) -> TokenResult {
        do throws(TokenError) {
            return try await redeem(assertion, kind, parameters)
        } catch {
            await notify(of: error)
            throw ADAuthenticationError(error)
        }
    }

    private func redeem(
        _ grant: String, _ kind: RedeemGrant.Kind, _ parameters: TokenParameters
    ) async throws(TokenError) -> TokenResult {
        try await agent.redeemGrant(
            RedeemGrant(
                parameters: parameters, kind: kind, grant: Secret(grant),
                account: AccountReference(username: identifier?.userId)))
    }
}

extension ADAssertionType {
    fileprivate var kind: RedeemGrant.Kind {
        get throws(ADAuthenticationError) {
            switch self {
            case AD_SAML1_1: return .saml11
            case AD_SAML2: return .saml2
            default: throw .invalidArgument("assertionType has to be AD_SAML1_1 or AD_SAML2")
            }
        }
    }
}

internal import AgentClient
internal import CompatSupport
internal import Foundation
internal import TokenModel

/// The operations of an application on values, which can be passed to another thread.
struct AppSession: Sendable {
    let settings: AppSettings
    var client: AgentClient
    var presenter: SignInPresenter
    let externalAccounts: ExternalAccounts
    let serializedCache: MSALSerializedADALCacheProvider?
    /// The process's sign-in in progress; tests set one of their own.
    var currentSignIn = CurrentSignIn.shared
    private let recentRequests = RecentSilentRequests()

    /// Creates a silent request from the app's parameters.
    ///
    /// - Throws: as `AppSettings.silentRequest(_:recent:)`.
    func silentRequest(_ parameters: MSALSilentTokenParameters) throws(NSError) -> AcquireTokenSilent {
        try CallLog.refusals(of: "acquireTokenSilent") { () throws(NSError) in
            try settings.silentRequest(parameters, recent: recentRequests)
        }
    }

    /// Creates a sign-in request from the app's parameters.
    ///
    /// - Throws: as `AppSettings.interactiveRequest(_:)`.
    func interactiveRequest(_ parameters: MSALInteractiveTokenParameters) throws(NSError) -> BeginInteractive {
        try CallLog.refusals(of: "acquireToken") { () throws(NSError) in try settings.interactiveRequest(parameters) }
    }

    /// Acquires a token without user interaction, within a time limit.
    ///
    /// - Parameter limit: nil takes that of `MSALHTTPConfig`.
    /// - Throws: `CancellationError` if the calling task is cancelled, else an error of MSAL.
    func acquireTokenSilent(_ request: AcquireTokenSilent, limit: TimeLimit? = nil) async throws -> MSALResult {
        if let result = try keptResult(request) { return result }
        let limit = limit ?? TimeLimit(seconds: MSALGlobalConfig.httpConfig.timeoutIntervalForRequest)
        return try await finish("acquireTokenSilent", request.parameters.correlationID) {
            () async throws(TokenError) in
            do throws(TokenError) {
                return try await client.acquireTokenSilent(request, limit: limit.duration)
            } catch {
                throw error.code == .timedOut ? limit.error : error
            }
        }
    }

    /// Converts the kept result of a silent request; nil if the agent has to be asked, or if the cache's delegate has to be told of the
    /// request, which takes time.
    private func keptResult(_ request: AcquireTokenSilent) throws -> MSALResult? {
        guard serializedCache == nil, !Task.isCancelled, let token = client.keptResult(for: request) else { return nil }
        let (name, correlationID) = ("acquireTokenSilent", request.parameters.correlationID)
        CallLog.begins(name, correlationID)
        do throws(TokenError) {
            return try convert(token, name, correlationID)
        } catch {
            throw failure(error, name, correlationID)
        }
    }

    /// Signs a user in.
    ///
    /// - Throws: an error of MSAL.
    func acquireToken(_ request: BeginInteractive) async throws -> MSALResult {
        let redirect = BrowserRedirect(request.parameters.redirectURI)
        MSALGlobalConfig.loggerConfig.log(redirect.replaced == nil ? .info : .warning, redirect.notice)
        return try await finish("acquireToken", request.parameters.correlationID, isSignIn: true) {
            () async throws(TokenError) in
            do throws(TokenError) {
                return try await currentSignIn.run(refusal: Self.refusalOfASecondSignIn) { () throws(TokenError) in
                    try await client.signIn(request, presenter: presenter)
                }
            } catch {
                throw error.code == .cancelled ? TokenError(.sessionCanceled, "the sign-in was cancelled") : error
            }
        }
    }

    /// The wording of MSAL, which apps search for.
    private static let refusalOfASecondSignIn = "Only one interactive session is allowed at a time."

    /// Connects the archive of an ADAL cache, if there is one, to this application's agent and sharing group.
    func attachSerializedCache() { serializedCache?.use(client, settings.sharingGroup) }

    func remove(_ account: MSALAccount) throws {
        let name = "remove"
        let request = try CallLog.refusals(of: name) { () throws(NSError) in try settings.removal(of: account) }
        try removeAndWait(request, name)
        try externalAccounts.remove(account, wipeAccount: false)
    }

    /// Removes what a request names, between the two calls of the cache's delegate.
    ///
    /// - Parameter name: the name of the call in the log.
    func removeAndWait(_ request: RemoveAccount, _ name: String) throws(NSError) {
        serializedCache?.announceWillWrite()
        defer { serializedCache?.announceDidWrite() }
        do throws(TokenError) {
            _ = try client.removeAccountAndWait(request)
            CallLog.removed(name)
        } catch {
            CallLog.failed(name, error.code)
            throw MSALError.error(for: error)
        }
    }

    /// Logs the request, converts its result or error, and notifies the cache delegate and, of a new token, external account providers.
    private func finish(
        _ name: String, _ correlationID: CorrelationID, isSignIn: Bool = false,
        _ work: () async throws(TokenError) -> TokenResult
    ) async throws -> MSALResult {
        CallLog.begins(name, correlationID)
        if let serializedCache { await runBlockingAppCode { serializedCache.announceAccess() } }
        do throws(TokenError) {
            let token = try await work()
            if token.makesArchivesOutdated, let serializedCache {
                await runBlockingAppCode { serializedCache.announceWrite() }
            }
            let result = try convert(token, name, correlationID)
            if !token.isFromCache, !externalAccounts.isEmpty {
                let updated = AppCallback { externalAccounts.update(result) }
                await runBlockingAppCode { updated.function() }
            }
            return result
        } catch {
            if error.details.hasChangedCache, let serializedCache {
                await runBlockingAppCode { serializedCache.announceWrite() }
            }
            throw failure(error, name, correlationID, isSignIn: isSignIn)
        }
    }

    /// Converts a token, and logs that there is one.
    private func convert(
        _ token: TokenResult, _ name: String, _ correlationID: CorrelationID
    ) throws(TokenError) -> MSALResult {
        let result = try MSALResult(token, kind: settings.authority.kind)
        CallLog.hasToken(name, correlationID)
        return result
    }

    /// Converts an error, and logs it.
    private func failure(
        _ error: TokenError, _ name: String, _ correlationID: CorrelationID, isSignIn: Bool = false
    ) -> NSError {
        CallLog.failed(name, error.code, correlationID)
        let error = error.answering(correlationID)
        return MSALError.asyncError(for: error, kind: settings.authority.kind, isOfSignIn: isSignIn)
    }
}

/// The lists of accounts.
extension AppSession {
    /// Lists the accounts that match, those of the agent first. Blocks the calling thread.
    func accounts(_ filter: AccountFilter) throws(NSError) -> [MSALAccount] {
        merged(try agentAccountsAndWait(filter), filter)
    }

    /// Lists the accounts of the agent that match; `merged(_:_:)` converts them.
    ///
    /// - Throws: `CancellationError` if the calling task is cancelled, else an error of MSAL.
    func agentAccounts(_ filter: AccountFilter) async throws -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        if let serializedCache { await runBlockingAppCode { serializedCache.announceAccess() } }
        do throws(TokenError) {
            return try await client.listAccounts(settings.listRequest(filter))
        } catch {
            CallLog.failed("accounts", error.code)
            throw MSALError.asyncError(for: error)
        }
    }

    /// The blocking form of `agentAccounts(_:)`.
    func agentAccountsAndWait(_ filter: AccountFilter) throws(NSError) -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        serializedCache?.announceAccess()
        do throws(TokenError) {
            return try client.listAccountsAndWait(settings.listRequest(filter))
        } catch {
            CallLog.failed("accounts", error.code)
            throw MSALError.error(for: error)
        }
    }

    /// Converts the accounts of the agent, and adds those of external account providers; none if no account can match
    /// the filter.
    func merged(_ accounts: [Account], _ filter: AccountFilter) -> [MSALAccount] {
        guard !filter.isUnsatisfiable else { return [] }
        return externalAccounts.merged(accounts.map { MSALAccount($0) }, filter: filter)
    }

    /// The async form of `merged(_:_:)`. Does not block the calling thread if a provider blocks.
    func mergedAsync(_ accounts: [Account], _ filter: AccountFilter) async -> [MSALAccount] {
        guard !externalAccounts.isEmpty else { return merged(accounts, filter) }
        return await runBlockingAppCode { MergedAccounts(accounts: merged(accounts, filter)) }.accounts
    }

    /// Returns the account with this identifier, or throws an error that is not of `MSALErrorDomain`.
    func account(identifier: String) throws(NSError) -> MSALAccount {
        let accounts = try accounts(AccountFilter(MSALAccountEnumerationParameters(identifier: identifier)))
        guard let account = accounts.first else {
            throw LookupError.notFound("no account of this app has the identifier \(identifier)")
        }
        return account
    }

    /// Returns the account with this username, or throws an error that is not of `MSALErrorDomain`. Of several, it is the first one that the
    /// app's authority is for among those whose home tenant knows it by that name.
    func account(username: String) throws(NSError) -> MSALAccount {
        guard let name = username.trimmedNonEmpty?.lowercased() else { throw LookupError.blankUsername }
        let filter = AccountFilter(MSALAccountEnumerationParameters(identifier: nil, username: username))
        let found = try agentAccountsAndWait(filter)
        let own = found.filter { account in
            account.tenantProfiles.contains { $0.isHome && $0.username?.lowercased() == name }
        }
        let meant = own.first { settings.authority.isFor($0.homeAccountID) } ?? own.first
        guard let account = merged(meant.map { [$0] } ?? found, filter).first else {
            throw LookupError.notFound("no account of this app has the username \(username)")
        }
        return account
    }
}

/// The current account.
extension AppSession {
    /// Returns the current and the previous account, as the agent knows them.
    ///
    /// - Throws: `CancellationError` if the calling task is cancelled, else an error of MSAL.
    func agentsCurrentAccount() async throws -> GetCurrentAccount.Reply {
        if externalAccounts.isEmpty {
            if let serializedCache { await runBlockingAppCode { serializedCache.announceAccess() } }
        } else {
            // The agent must not record an account as the current one if the call fails because of a provider's account.
            let accounts = try await agentAccounts(AccountFilter())
            _ = try Self.onlyAccount(of: await mergedAsync(accounts, AccountFilter()))
        }
        do throws(TokenError) {
            return try await client.currentAccount(currentAccountRequest)
        } catch {
            CallLog.failed("getCurrentAccount", error.code)
            throw MSALError.asyncError(for: error)
        }
    }

    /// The blocking form of `agentsCurrentAccount()`.
    func agentsCurrentAccountAndWait() throws(NSError) -> GetCurrentAccount.Reply {
        if externalAccounts.isEmpty {
            serializedCache?.announceAccess()
        } else {
            let accounts = try agentAccountsAndWait(AccountFilter())
            _ = try Self.onlyAccount(of: merged(accounts, AccountFilter()))
        }
        do throws(TokenError) {
            return try client.currentAccountAndWait(currentAccountRequest)
        } catch {
            CallLog.failed("getCurrentAccount", error.code)
            throw MSALError.error(for: error)
        }
    }

    /// Converts the reply of the agent; accounts of external account providers count too. Blocks as long as the providers do.
    func currentAccount(
        _ reply: GetCurrentAccount.Reply
    ) throws(NSError) -> (account: MSALAccount?, previous: MSALAccount?) {
        let accounts = merged(reply.account.map { [$0] } ?? [], AccountFilter())
        return (try Self.onlyAccount(of: accounts), reply.previous.map { MSALAccount($0, listsTenants: false) })
    }

    /// The async form of `currentAccount(_:)`. Does not block the calling thread if a provider blocks.
    func currentAccountAsync(
        _ reply: GetCurrentAccount.Reply
    ) async throws(NSError) -> (account: MSALAccount?, previous: MSALAccount?) {
        let accounts = await mergedAsync(reply.account.map { [$0] } ?? [], AccountFilter())
        return (try Self.onlyAccount(of: accounts), reply.previous.map { MSALAccount($0, listsTenants: false) })
    }

    /// Returns the only account of these; nil if there is none.
    private static func onlyAccount(of accounts: [MSALAccount]) throws(NSError) -> MSALAccount? {
        guard accounts.count < 2 else {
            throw CallLog.failed(
                "getCurrentAccount",
                MSALError.error(.internalErrorAmbiguousAccount, "several accounts are signed in"))
        }
        return accounts.first
    }

    private var currentAccountRequest: GetCurrentAccount {
        GetCurrentAccount(clientID: settings.clientID, sharingGroup: settings.sharingGroup)
    }
}

/// Accounts that are passed from the thread that made them to the caller that waits for them.
///
/// Unchecked because apps may make subclasses of `MSALAccount`. These are objects of this module's, also for the accounts of providers, and
/// no other thread has them.
private struct MergedAccounts: @unchecked Sendable {
    let accounts: [MSALAccount]
}

/// The time limit that the app sets for a silent request, in seconds. A negative one counts as 0, one of more than a day as a day.
struct TimeLimit: Sendable {
    let seconds: TimeInterval

    var duration: Duration { .seconds(min(max(seconds.isNaN ? 0 : seconds, 0), 86_400)) }

    /// `networkUnavailable` with `NSURLErrorTimedOut`, which MSAL reports.
    var error: TokenError {
        var details = TokenError.Details()
        details.networkErrorCode = Int32(NSURLErrorTimedOut)
        return TokenError(.networkUnavailable, "the request took longer than \(seconds) s", details: details)
    }
}

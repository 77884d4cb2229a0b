internal import AgentClient
internal import Foundation
internal import TokenModel

/// What an application does once its parameters have become requests. A value, so that it can go to any thread.
struct AppSession: Sendable {
    let settings: AppSettings
    var client: AgentClient
    var presenter: SignInPresenter
    let externalAccounts: ExternalAccounts
    let serializedCache: MSALSerializedADALCacheProvider?
    /// The process's sign-in in progress; tests set one of their own.
    var currentSignIn = CurrentSignIn.shared

    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func acquireTokenSilent(_ request: AcquireTokenSilent) async throws -> MSALResult {
        let limit = MSALGlobalConfig.httpConfig.timeoutIntervalForRequest
        return try await finish("acquireTokenSilent", request.parameters.correlationID) {
            () async throws(TokenError) in
            try await Deadline(seconds: limit).run { () async throws(TokenError) in
                try await client.acquireTokenSilent(request)
            }
        }
    }

    /// - Throws: an error of MSAL's.
    func acquireToken(_ request: BeginInteractive) async throws -> MSALResult {
        let redirect = BrowserRedirect(request.parameters.redirectURI)
        MSALGlobalConfig.loggerConfig.log(redirect.replaced == nil ? .info : .warning, redirect.notice)
        return try await finish("acquireToken", request.parameters.correlationID) { () async throws(TokenError) in
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

    /// The app's own archive of an ADAL cache is one of this application's sharing group.
    func serveSerializedCache() { serializedCache?.serve(client, settings.sharingGroup) }

    func remove(_ account: MSALAccount) throws {
        let request = try settings.removal(of: account)
        defer { serializedCache?.announceWrite() }
        do throws(TokenError) {
            _ = try client.removeAccountAndWait(request)
        } catch {
            throw MSALError.error(for: error)
        }
        try externalAccounts.remove(account, wipeAccount: false)
    }

    /// Logs, converts, and tells external account providers.
    private func finish(
        _ name: String, _ correlationID: CorrelationID,
        _ work: () async throws(TokenError) -> TokenResult
    ) async throws -> MSALResult {
        let logger = MSALGlobalConfig.loggerConfig
        logger.log(.info, "\(name) begins, correlation ID \(correlationID)")
        if let serializedCache { await runBlockingAppCode { serializedCache.announceAccess() } }
        do throws(TokenError) {
            let token = try await work()
            if !token.isFromCache, let serializedCache {
                await runBlockingAppCode { serializedCache.announceWrite() }
            }
            let result = try MSALResult(token, kind: settings.authority.kind)
            logger.log(.info, "\(name) has a token, correlation ID \(correlationID)")
            externalAccounts.update(result)
            return result
        } catch {
            // The code only: the issuer's message may name people.
            logger.log(
                error.code == .cancelled ? .info : .error,
                "\(name) failed with \(error.code.name), correlation ID \(correlationID)")
            var error = error
            error.details.correlationID = error.details.correlationID ?? correlationID
            throw MSALError.asyncError(for: error, kind: settings.authority.kind)
        }
    }
}

extension AppSession {
    /// The accounts that fit, the agent's first.
    func accounts(_ filter: AccountFilter) throws(NSError) -> [MSALAccount] {
        merged(try agentAccountsAndWait(filter), filter)
    }

    /// The agent's accounts that fit, without blocking; `merged(_:_:)` makes MSAL's accounts of them.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func agentAccounts(_ filter: AccountFilter) async throws -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        if let serializedCache { await runBlockingAppCode { serializedCache.announceAccess() } }
        do throws(TokenError) {
            return try await client.listAccounts(settings.listRequest(filter))
        } catch {
            throw MSALError.asyncError(for: error)
        }
    }

    /// The same, blocking the calling thread.
    func agentAccountsAndWait(_ filter: AccountFilter) throws(NSError) -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        serializedCache?.announceAccess()
        do throws(TokenError) {
            return try client.listAccountsAndWait(settings.listRequest(filter))
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// MSAL's accounts for the agent's, and those of external account providers; none where the filter is unsatisfiable.
    func merged(_ accounts: [Account], _ filter: AccountFilter) -> [MSALAccount] {
        guard !filter.isUnsatisfiable else { return [] }
        return externalAccounts.merged(accounts.map { MSALAccount($0) }, filter: filter)
    }

    /// The account with this identifier; a miss is not an MSAL error.
    func account(identifier: String) throws(NSError) -> MSALAccount {
        let accounts = try accounts(AccountFilter(MSALAccountEnumerationParameters(identifier: identifier)))
        guard let account = accounts.first else { throw AccountLookupError.notFound("identifier \(identifier)") }
        return account
    }

    /// The first account with this name; a miss is not an MSAL error.
    func account(username: String) throws(NSError) -> MSALAccount {
        guard username.trimmedNonEmpty != nil else { throw AccountLookupError.blankUsername }
        let filter = AccountFilter(MSALAccountEnumerationParameters(identifier: nil, username: username))
        guard let account = try accounts(filter).first else {
            throw AccountLookupError.notFound("username \(username)")
        }
        return account
    }
}

extension AppSession {
    /// Who is signed in and who was, as the agent knows it.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func agentsCurrentAccount() async throws -> GetCurrentAccount.Reply {
        do throws(TokenError) {
            return try await client.currentAccount(currentAccountRequest)
        } catch {
            throw MSALError.asyncError(for: error)
        }
    }

    /// The same, blocking the calling thread.
    func agentsCurrentAccountAndWait() throws(NSError) -> GetCurrentAccount.Reply {
        do throws(TokenError) {
            return try client.currentAccountAndWait(currentAccountRequest)
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// The same as MSAL's accounts; those of external account providers count too.
    func currentAccount(
        _ reply: GetCurrentAccount.Reply
    ) throws(NSError) -> (account: MSALAccount?, previous: MSALAccount?) {
        let accounts = merged(reply.account.map { [$0] } ?? [], AccountFilter())
        guard accounts.count < 2 else {
            throw MSALError.error(.internalErrorAmbiguousAccount, "several accounts are signed in")
        }
        return (accounts.first, reply.previous.map { MSALAccount($0, listsTenants: false) })
    }

    private var currentAccountRequest: GetCurrentAccount {
        GetCurrentAccount(clientID: settings.clientID, sharingGroup: settings.sharingGroup)
    }
}

extension AppSession {
    /// - Throws: -50000 with -42000 when the account has neither identifier nor name, or when the browser's session is to end
    ///   and the parameters were made without webview parameters.
    func signout(_ account: MSALAccount, _ parameters: MSALSignoutParameters) throws(NSError) -> Signout {
        guard !parameters.signoutFromBrowser || parameters.hasWebviewParameters else {
            throw MSALError.error(
                .internalErrorInvalidParameter,
                "signoutFromBrowser needs webview parameters; use MSALSignoutParameters(webviewParameters:)")
        }
        let extent: RemoveAccount.Extent =
            switch (parameters.wipeCacheForAllAccounts, parameters.wipeAccount) {
            case (true, _): .everything
            case (_, true): .account
            default: .app
            }
        return Signout(
            request: try settings.removal(of: account, extent: extent), account: account,
            wipesAccount: parameters.wipeAccount,
            page: parameters.signoutFromBrowser ? signoutPage(parameters.extraQueryParameters ?? [:]) : nil)
    }

    /// Removes, tells external account providers, then opens the page; true when all went well.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's or of a provider.
    func perform(_ signout: Signout) async throws -> Bool {
        do throws(TokenError) {
            _ = try await client.removeAccount(signout.request)
        } catch {
            throw MSALError.asyncError(for: error)
        }
        if let serializedCache { await runBlockingAppCode { serializedCache.announceWrite() } }
        return try conclude(signout)
    }

    /// The same, blocking the calling thread.
    func performAndWait(_ signout: Signout) throws -> Bool {
        do throws(TokenError) {
            _ = try client.removeAccountAndWait(signout.request)
        } catch {
            throw MSALError.error(for: error)
        }
        serializedCache?.announceWrite()
        return try conclude(signout)
    }

    private func conclude(_ signout: Signout) throws -> Bool {
        try externalAccounts.remove(signout.account, wipeAccount: signout.wipesAccount)
        if let page = signout.page { try open(page) }
        return true
    }

    /// The page that ends the browser's session, at the same place for every kind of authority that MSAL supports.
    private func signoutPage(_ extraParameters: [String: String]) -> String {
        var components = URLComponents(string: "\(settings.authority.url)/oauth2/v2.0/logout")
        if !extraParameters.isEmpty {
            components?.queryItems = extraParameters.sorted { $0.key < $1.key }.map(URLQueryItem.init)
        }
        return components?.string ?? settings.authority.url
    }

    private func open(_ page: String) throws(NSError) {
        do throws(TokenError) {
            try Browser(commands: presenter.browserCommands).open(page) { _ in
                MSALGlobalConfig.loggerConfig.log(.warning, "the browser failed to open the sign-out page")
            }
        } catch {
            throw MSALError.error(for: error)
        }
    }
}

/// A sign-out as a value: what to remove, whom to tell, and which page ends the browser's session.
///
/// Unchecked for the one object in it, the account for external account providers, which never changes.
struct Signout: @unchecked Sendable {
    let request: RemoveAccount
    let account: MSALAccount
    let wipesAccount: Bool
    /// Nil leaves the browser alone.
    let page: String?
}

/// How long the app is willing to wait.
struct Deadline: Sendable {
    let seconds: TimeInterval

    // How long `AgentClient` waits by itself. A limit beyond it needs no clock of its own, which a cached token would
    // have to pay for.
    private static let agentLimit: TimeInterval = 90

    /// Runs `work`, which is cancelled when the time is over.
    ///
    /// - Throws: `networkUnavailable` with `NSURLErrorTimedOut` when the time is over, and what `work` throws.
    func run(
        _ work: @escaping @Sendable () async throws(TokenError) -> TokenResult
    ) async throws(TokenError) -> TokenResult {
        guard seconds < Self.agentLimit else { return try await work() }
        let outcome = await withTaskGroup(of: Result<TokenResult, TokenError>?.self) { group in
            group.addTask {
                do throws(TokenError) {
                    return .success(try await work())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(max(seconds, 0)))
                return Task.isCancelled ? .failure(TokenError(.cancelled, "the call was cancelled")) : nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let outcome else {
            var details = TokenError.Details()
            details.networkErrorCode = Int32(NSURLErrorTimedOut)
            throw TokenError(.networkUnavailable, "the request took longer than \(seconds) s", details: details)
        }
        return try outcome.get()
    }
}

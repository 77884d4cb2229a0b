// MSAL's own module re-exports these, so that a file with only `import MSAL` can name `URL`, `NSError`,
// `DispatchQueue` and `UIViewController`.

package import AgentClient
@_exported public import AppleTypes
internal import CompatSupport
@_exported public import Dispatch
@_exported public import Foundation
internal import TokenModel

/// An app that acquires tokens: it lists accounts, acquires tokens silently, signs users in and signs them out.
///
/// All requests go to the user's agent, which every app shares; `$SSO_AGENT_SOCK` names another agent. Methods may be
/// called from any thread. Those that need the agent's cache only (accounts, `remove(_:)`, and `signout` without the
/// sign-out page) block the calling thread until the agent has answered, and fail if it has not after 90 seconds; their
/// async forms suspend instead.
///
/// A completion block is called exactly once: on the parameters' `completionBlockQueue` if it is set. Otherwise
/// `getCurrentAccount`, `accountsFromDevice` and `getDeviceInformation` call it on the calling thread before they
/// return, `acquireToken` and `signout` on the main queue (which other threads than the main one serve on Linux, under
/// `dispatchMain()` or an async `main`), `acquireTokenSilent` on any thread. An error that is known before the work
/// begins is then reported before the method returns; by `acquireToken` and `signout` only if the caller is on the main
/// thread. In a copy (`fork`) of the process, where no request can succeed, every block is called before the method returns. Blocks are
/// `@preconcurrency`, so that code written before Swift 6 compiles unchanged.
///
/// Every error is an `NSError`. An async method whose task is cancelled throws one that is a `CancellationError` too;
/// `acquireToken(with:)` throws `MSALError.userCanceled`.
open class MSALPublicClientApplication: NSObject {
    /// The configuration that the application was created with. Its values were read then: changing it has no effect.
    public let configuration: MSALPublicClientApplicationConfig
    /// The operations of the application; nil if it has no configuration.
    var session: AppSession?

    /// Creates an application with this configuration, which is copied.
    ///
    /// - Throws: `MSALError.internal` (-50000), with internal code -42000 if the client ID is blank or MSAL does not
    ///   support the kind of the authority, -42011 if the redirect URI is not a URL with a scheme.
    public init(configuration config: MSALPublicClientApplicationConfig) throws {
        configuration = config
        let settings = try AppSettings(config)
        let session = AppSession(
            settings: settings, client: .shared, presenter: SignInPresenter(),
            externalAccounts: ExternalAccounts(
                config.cacheConfig.externalAccountProviders, kind: settings.authority.kind),
            serializedCache: config.cacheConfig.serializedADALCache)
        session.attachSerializedCache()
        self.session = session
    }

    /// Creates an application with the default configuration.
    ///
    /// - Throws: as `init(configuration:)`.
    public convenience init(clientId: String) throws {
        try self.init(configuration: MSALPublicClientApplicationConfig(clientId: clientId))
    }

    /// Creates an application without a configuration, for test doubles, which override methods.
    ///
    /// Every other method fails with `MSALError.internal` (-50000), internal code -42000, and sends no request.
    public override init() {
        configuration = MSALPublicClientApplicationConfig(clientId: "")
        session = nil
    }

    /// Creates an application that uses the agent of `client` and signs users in by `presenter`.
    ///
    /// A convenience initializer, because the subclass of an app inherits `init(clientId:)` only if it can see every
    /// designated initializer.
    package convenience init(
        configuration config: MSALPublicClientApplicationConfig, client: AgentClient,
        presenter: SignInPresenter = SignInPresenter()
    ) throws {
        try self.init(configuration: config)
        session?.client = client
        session?.presenter = presenter
        session?.attachSerializedCache()
    }

    /// Returns the operations of the application.
    ///
    /// - Throws: -50000 with -42000 for an application without a configuration.
    private func configured() throws(NSError) -> AppSession {
        guard let session else {
            throw MSALError.error(
                .internalErrorInvalidParameter, "the application has no configuration; use init(configuration:)")
        }
        return session
    }

    // MARK: Accounts

    /// Lists every account of the sharing group for which this app, or its family, can acquire tokens silently, also
    /// accounts that signed in with ADAL. Empty if there is none.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42008, if the agent does not answer or refuses the request, or
    ///   its store is locked; the `TokenError` is under `NSUnderlyingErrorKey`.
    open func allAccounts() throws -> [MSALAccount] {
        try configured().accounts(AccountFilter())
    }

    /// Returns the account with this identifier, without regard to case.
    ///
    /// - Throws: if there is none, an error of domain `Foundation._GenericObjCError`, code 0, which Swift throws for
    ///   the original; so use `try?`. Else as `allAccounts()`.
    open func account(forIdentifier identifier: String) throws -> MSALAccount {
        try configured().account(identifier: identifier)
    }

    /// Returns the account with this username, without regard to case. If several have it, one in its home tenant comes
    /// first.
    ///
    /// - Throws: as `account(forIdentifier:)`; domain `MSIDErrorDomain`, code -51111 if the username is blank.
    open func account(forUsername username: String) throws -> MSALAccount {
        try configured().account(username: username)
    }

    /// Lists the accounts that match; empty if none does.
    ///
    /// - Throws: as `allAccounts()`.
    open func accounts(for parameters: MSALAccountEnumerationParameters) throws -> [MSALAccount] {
        try configured().accounts(AccountFilter(parameters))
    }

    /// Lists the accounts that match, as `accounts(for:)` does: the agent serves the whole device. The block is called
    /// on the calling thread before the method returns, unless the parameters set a queue.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func accountsFromDevice(
        for parameters: MSALAccountEnumerationParameters,
        completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
    ) {
        let (session, filter) = (Result { try configured() }, AccountFilter(parameters))
        // Only values are passed to the queue; the objects of MSAL are created where the block is called.
        Completion(queue: parameters.completionBlockQueue) { outcome in
            let accounts = Result { try session.get().merged(try outcome.get(), filter) }
            completionBlock(accounts.value, accounts.error)
        }.report(Result { try session.get().agentAccountsAndWait(filter) })
    }

    /// Lists the accounts that match, as `accounts(for:)` does, without blocking the calling thread.
    ///
    /// - Throws: as `accounts(for:)`; `CancellationError` if the task is cancelled.
    open func accountsFromDevice(for parameters: MSALAccountEnumerationParameters) async throws -> [MSALAccount] {
        let (session, filter) = (try configured(), AccountFilter(parameters))
        return await session.mergedAsync(try await session.agentAccounts(filter), filter)
    }

    /// Returns the one account that is signed in to this app, and the one that the app's previous call returned. The block
    /// is called on the calling thread before the method returns, unless the parameters set a queue.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func getCurrentAccount(
        with parameters: MSALParameters?,
        completionBlock: @escaping @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void
    ) {
        let session = Result { try configured() }
        Completion(queue: parameters?.completionBlockQueue) { outcome in
            let current = Result { try session.get().currentAccount(try outcome.get()) }
            completionBlock(current.value?.account, current.value?.previous, current.error)
        }.report(Result { try session.get().agentsCurrentAccountAndWait() })
    }

    /// Returns the one account that is signed in to this app, and the one that the app's previous call returned. Either is
    /// nil if there was none.
    ///
    /// - Throws: `MSALError.internal` (-50000), with internal code -42102 if several accounts are signed in; else as
    ///   `allAccounts()`; `CancellationError` if the task is cancelled.
    open func currentAccount(with parameters: MSALParameters?) async throws -> (MSALAccount?, MSALAccount?) {
        let session = try configured()
        return try await session.currentAccountAsync(try await session.agentsCurrentAccount())
    }

    // MARK: Tokens

    /// Acquires a token without user interaction. The block is called on any thread, unless the parameters set a queue.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters,
        completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
    ) {
        Completion(queue: parameters.completionBlockQueue) { completionBlock($0.value, $0.error) }.call {
            let session = try configured()
            let request = try session.silentRequest(parameters)
            return { try await session.acquireTokenSilent(request) }
        }
    }

    /// Acquires a token without user interaction, from the cache or by redeeming a refresh token. Cancelling the task
    /// ends the wait.
    ///
    /// - Throws: `MSALError.interactionRequired` (-50002) if only `acquireToken(with:)` can help, also if the
    ///   parameters have no account; `MSALError.serverDeclinedScopes` (-50003);
    ///   `MSALError.serverProtectionPoliciesRequired` (-50004); an error of `NSURLErrorDomain` if the network is not
    ///   reachable, or `MSALHTTPConfig.timeoutIntervalForRequest` has elapsed (-1001); `MSALError.internal` (-50000), with
    ///   `MSALInternalErrorCodeKey`, for every error without a code of its own in `MSALError`; `CancellationError` if the
    ///   task is cancelled.
    @discardableResult
    open func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        let session = try configured()
        return try await session.acquireTokenSilent(try session.silentRequest(parameters))
    }

    /// Signs a user in and acquires a token. The block is called on the main queue, unless the parameters set another.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func acquireToken(
        with parameters: MSALInteractiveTokenParameters,
        completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
    ) {
        Completion(queue: parameters.completionBlockQueue, isForMainThread: true) {
            completionBlock($0.value, $0.error)
        }.call {
            let session = try configured()
            let request = try session.interactiveRequest(parameters)
            return { try await session.acquireToken(request) }
        }
    }

    /// Signs a user in and acquires a token: in the system browser or, without a display, with a device code.
    /// Cancelling the task cancels the sign-in.
    ///
    /// - Throws: `MSALError.userCanceled` (-50005) if the sign-in was cancelled, or the user has declined;
    ///   `MSALError.internal` (-50000) with internal code -42101 if another account signed in, -42402 if another sign-in of
    ///   MSAL or ADAL is in progress in this process, -42104 if no browser could be used, -42008 if the page has sent no
    ///   response for ten minutes or the device code has expired; else as `acquireTokenSilent(with:)`.
    @discardableResult
    open func acquireToken(with parameters: MSALInteractiveTokenParameters) async throws -> MSALResult {
        let session = try configured()
        return try await session.acquireToken(try session.interactiveRequest(parameters))
    }

    /// Cancels the sign-in in progress in this process, of MSAL or of ADAL. A request of MSAL then fails with
    /// `MSALError.userCanceled` (-50005).
    ///
    /// Returns false if there was none.
    @discardableResult open class func cancelCurrentWebAuthSession() -> Bool {
        CurrentSignIn.shared.cancel()
    }

    /// Handles the URL that an app was opened with, on Apple's platforms. Always false here: the agent itself receives
    /// the redirect.
    @discardableResult
    open class func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool { false }

    // MARK: Sign-out

    /// Removes this app's tokens of the account; other apps keep theirs. Until the next sign-in, this app does not list
    /// the account, and its silent requests fail with `MSALError.interactionRequired`.
    ///
    /// Succeeds also if there is nothing to remove.
    ///
    /// - Throws: `MSALError.internal` (-50000): with internal code -42000 if the account has neither identifier nor username;
    ///   if the agent does not answer or its store is locked, and nothing is removed; if the agent cannot write the removal,
    ///   which is in effect nevertheless. An error of an external account provider.
    open func remove(_ account: MSALAccount) throws {
        try configured().remove(account)
    }

    /// Signs the account out, as the parameters say. The block is called on the main queue, unless they set another.
    ///
    /// Without `signoutFromBrowser`, the account is signed out when the method returns; if it was called on the main
    /// thread, and the parameters set no queue, the block has been called by then.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func signout(
        with account: MSALAccount, signoutParameters: MSALSignoutParameters,
        completionBlock signoutCompletionBlock: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        let completion = Completion<Bool>(queue: signoutParameters.completionBlockQueue, isForMainThread: true) {
            signoutCompletionBlock($0.value ?? false, $0.error)
        }
        guard signoutParameters.signoutFromBrowser else {
            return completion.report(
                Result {
                    let session = try configured()
                    return try session.performAndWait(try session.signout(account, signoutParameters))
                })
        }
        completion.call {
            let session = try configured()
            let signout = try session.signout(account, signoutParameters)
            return { try await session.perform(signout) }
        }
    }

    /// Signs the account out, as the parameters say; returns true.
    ///
    /// - Throws: as `remove(_:)`; with `signoutFromBrowser`, -50000 with internal code -42000 if the parameters were created
    ///   without webview parameters, -42104 if no browser could be started, after the account has been signed out;
    ///   `CancellationError` if the task is cancelled: the account may be signed out nevertheless, but no page is opened.
    @discardableResult
    open func signout(with account: MSALAccount, signoutParameters: MSALSignoutParameters) async throws -> Bool {
        let session = try configured()
        return try await session.perform(try session.signout(account, signoutParameters))
    }

    // MARK: The device

    /// Returns information about the device. Inert: it is empty. The block is called on the calling thread before the
    /// method returns, unless the parameters set a queue.
    @preconcurrency
    open func getDeviceInformation(
        with parameters: MSALParameters?,
        completionBlock: @escaping @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
    ) {
        Completion<Void>(queue: parameters?.completionBlockQueue) { _ in completionBlock(MSALDeviceInformation(), nil) }
            .report(.success(()))
    }

    /// Returns information about the device. Inert: it is empty.
    open func deviceInformation(with parameters: MSALParameters?) async throws -> MSALDeviceInformation {
        MSALDeviceInformation()
    }

    /// Inert: always false, because there is no broker of Apple's here.
    open var isCompatibleAADBrokerAvailable: Bool { false }

    /// The version of MSAL's API that this module reproduces.
    open class var sdkVersion: String? { "2.13.0" }
}

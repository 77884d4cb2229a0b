// MSAL's own module re-exports these, so that a file with only `import MSAL` can name `URL`, `NSError`,
// `DispatchQueue` and `UIViewController`.

package import AgentClient
@_exported public import AppleTypes
@_exported public import Dispatch
@_exported public import Foundation
internal import TokenModel

/// The way to tokens for an app: list accounts, get tokens silently, let people sign in, sign them out.
///
/// Everything goes through the user's agent, which every app shares; `$SSO_AGENT_SOCK` names another one. Methods may
/// be called from any thread. Those that only need the agent's cache (accounts, `remove(_:)`, and `signout` but for the browser's
/// part) block the calling thread until the agent has answered; the async forms suspend instead.
///
/// A completion block is called exactly once: on the parameters' `completionBlockQueue` where it is set. Otherwise
/// `getCurrentAccount`, `accountsFromDevice` and `getDeviceInformation` call it on the calling thread before they return;
/// `acquireToken` and `signout` on the main thread; `acquireTokenSilent` on any thread. An error that is known before the work
/// begins is reported before the method returns, by `acquireToken` and `signout` only when the caller is on the main thread.
/// Blocks are `@preconcurrency`, as those of a library in Objective-C are: app code written before Swift 6 compiles as it is.
///
/// An async form whose task is cancelled throws `CancellationError`; `acquireToken(with:)` throws `MSALError.userCanceled`.
open class MSALPublicClientApplication: NSObject {
    /// The configuration as it was given. It was copied: changing it has no effect on this application.
    public let configuration: MSALPublicClientApplicationConfig
    /// Nil for an application without a configuration.
    var session: AppSession?

    /// An application with this configuration, which is copied.
    ///
    /// - Throws: `MSALError.internal` (-50000), with internal code -42000 when the client ID is blank or the
    ///   authority is of a kind that MSAL does not support, -42011 when the redirect URI is not a URL with a scheme.
    public init(configuration config: MSALPublicClientApplicationConfig) throws {
        configuration = config
        let session = AppSession(
            settings: try AppSettings(config), client: .shared, presenter: SignInPresenter(),
            externalAccounts: ExternalAccounts(config.cacheConfig.externalAccountProviders),
            serializedCache: config.cacheConfig.serializedADALCache)
        session.serveSerializedCache()
        self.session = session
    }

    /// An application with nothing but a client ID.
    ///
    /// - Throws: as `init(configuration:)`.
    public convenience init(clientId: String) throws {
        try self.init(configuration: MSALPublicClientApplicationConfig(clientId: clientId))
    }

    /// An application without a configuration, for test doubles, which override what the tests call.
    ///
    /// Every method that is not overridden fails with `MSALError.internal` (-50000), internal code -42000, and asks no agent.
    public override init() {
        configuration = MSALPublicClientApplicationConfig(clientId: "")
        session = nil
    }

    /// An application that talks to the agent of `client` and shows the way to sign in with `presenter`.
    ///
    /// A convenience initialiser, because an app's subclass inherits `init(clientId:)` only when it sees every
    /// designated one.
    package convenience init(
        configuration config: MSALPublicClientApplicationConfig, client: AgentClient,
        presenter: SignInPresenter = SignInPresenter()
    ) throws {
        try self.init(configuration: config)
        session?.client = client
        session?.presenter = presenter
        session?.serveSerializedCache()
    }

    /// - Throws: -50000 with -42000 for an application without a configuration.
    private func configured() throws(NSError) -> AppSession {
        guard let session else {
            throw MSALError.error(
                .internalErrorInvalidParameter, "the application has no configuration; use init(configuration:)")
        }
        return session
    }

    // MARK: Accounts

    /// Every account of the sharing group that this app, or its family, can get tokens for silently; those that came
    /// from ADAL too. Empty when there is none.
    ///
    /// - Throws: `MSALError.internal` (-50000) when the agent cannot be asked.
    open func allAccounts() throws -> [MSALAccount] {
        try configured().accounts(AccountFilter())
    }

    /// The account with this identifier, without regard to case.
    ///
    /// - Throws: when there is none, an error that is not MSAL's (domain `Foundation._GenericObjCError`, code 0), as
    ///   Swift does for the original; so use `try?`. `MSALError.internal` (-50000) when the agent cannot be asked.
    open func account(forIdentifier identifier: String) throws -> MSALAccount {
        try configured().account(identifier: identifier)
    }

    /// The account with this name, without regard to case. Where several have it, one in its home tenant comes first.
    ///
    /// - Throws: as `account(forIdentifier:)`; domain `MSIDErrorDomain`, code -51111 when the name is blank.
    open func account(forUsername username: String) throws -> MSALAccount {
        try configured().account(username: username)
    }

    /// The accounts that fit; empty when none does.
    ///
    /// - Throws: `MSALError.internal` (-50000) when the agent cannot be asked.
    open func accounts(for parameters: MSALAccountEnumerationParameters) throws -> [MSALAccount] {
        try configured().accounts(AccountFilter(parameters))
    }

    /// As `accounts(for:)`: the agent is the device's. The block is called on the calling thread before the method returns,
    /// unless the parameters name a queue.
    @preconcurrency
    open func accountsFromDevice(
        for parameters: MSALAccountEnumerationParameters,
        completionBlock: @escaping @Sendable ([MSALAccount]?, (any Error)?) -> Void
    ) {
        let (session, filter) = (Result { try configured() }, AccountFilter(parameters))
        // Values cross to the queue; MSAL's objects are made where the block is called.
        Completion(queue: parameters.completionBlockQueue) { outcome in
            let accounts = Result { try session.get().merged(try outcome.get(), filter) }
            completionBlock(accounts.value, accounts.error)
        }.report(Result { try session.get().agentAccountsAndWait(filter) })
    }

    /// As `accounts(for:)`, without blocking: the agent is the device's.
    ///
    /// - Throws: as `accounts(for:)`; `CancellationError` when the task is cancelled.
    open func accountsFromDevice(for parameters: MSALAccountEnumerationParameters) async throws -> [MSALAccount] {
        let (session, filter) = (try configured(), AccountFilter(parameters))
        return session.merged(try await session.agentAccounts(filter), filter)
    }

    /// The one account that is signed in to this app, and the one that was when the app asked before. The block is called
    /// on the calling thread before the method returns, unless the parameters name a queue.
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

    /// The one account that is signed in to this app, and the one that was when the app asked before. Either is nil when
    /// there was none.
    ///
    /// - Throws: `MSALError.internal` (-50000), with internal code -42102 when several accounts are signed in;
    ///   `CancellationError` when the task is cancelled.
    open func currentAccount(with parameters: MSALParameters?) async throws -> (MSALAccount?, MSALAccount?) {
        let session = try configured()
        return try session.currentAccount(try await session.agentsCurrentAccount())
    }

    // MARK: Tokens

    /// A token without user interaction. The block is called on any thread, unless the parameters name a queue.
    ///
    /// Errors as in the async form.
    @preconcurrency
    open func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters,
        completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
    ) {
        Completion(queue: parameters.completionBlockQueue) { completionBlock($0.value, $0.error) }.call {
            let session = try configured()
            let request = try session.settings.silentRequest(parameters)
            return { try await session.acquireTokenSilent(request) }
        }
    }

    /// A token without user interaction: from the cache, or by a refresh. Cancelling the task cancels the wait.
    ///
    /// - Throws: `MSALError.interactionRequired` (-50002) when only `acquireToken(with:)` can help, also when the
    ///   parameters have no account; `MSALError.serverDeclinedScopes` (-50003); `NSURLErrorDomain` when the network
    ///   cannot be reached; `MSALError.internal` (-50000) for the rest, with `MSALInternalErrorCodeKey`;
    ///   `CancellationError` when the task is cancelled.
    @discardableResult
    open func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        let session = try configured()
        return try await session.acquireTokenSilent(try session.settings.silentRequest(parameters))
    }

    /// Lets the person sign in. The block is called on the main thread, unless the parameters name a queue.
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
            let request = try session.settings.interactiveRequest(parameters)
            return { try await session.acquireToken(request) }
        }
    }

    /// Lets the person sign in: in the system browser or, without a display, with a code typed on another device.
    /// Cancelling the task cancels the sign-in.
    ///
    /// - Throws: `MSALError.userCanceled` (-50005) when it was given up; `MSALError.internal` (-50000) with internal
    ///   code -42101 when another account signed in, -42402 when a sign-in of this process is under way; else as
    ///   `acquireTokenSilent(with:)`.
    @discardableResult
    open func acquireToken(with parameters: MSALInteractiveTokenParameters) async throws -> MSALResult {
        let session = try configured()
        return try await session.acquireToken(try session.settings.interactiveRequest(parameters))
    }

    /// Gives up the sign-in under way in this process; its caller gets `MSALError.userCanceled` (-50005).
    ///
    /// Returns whether there was one.
    @discardableResult open class func cancelCurrentWebAuthSession() -> Bool {
        CurrentSignIn.shared.cancel()
    }

    /// On Apple's platforms, takes the URL an app was opened with. Here the agent's own listener takes the redirect,
    /// so that no URL is ever one this library waits for: always false.
    @discardableResult
    open class func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool { false }

    // MARK: Signing out

    /// Forgets this app's tokens for the account. Other apps keep theirs. Until the next interactive sign-in, this
    /// app does not list the account, and a silent request fails with `MSALError.interactionRequired`.
    ///
    /// Done also when there is nothing to forget.
    ///
    /// - Throws: `MSALError.internal` (-50000) when the agent cannot be asked; an external account provider's error.
    open func remove(_ account: MSALAccount) throws {
        try configured().remove(account)
    }

    /// Signs the account out, as far as the parameters say. The block is called on the main thread, unless they name a queue.
    ///
    /// Without `signoutFromBrowser`, everything is done when the method returns; on the main thread the block has been called
    /// by then.
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

    /// Signs the account out, as far as the parameters say; true when done.
    ///
    /// - Throws: as `remove(_:)`; -50000 with internal code -42000 when the parameters ask for the browser's part and were made
    ///   without webview parameters; `CancellationError` when the task is cancelled.
    @discardableResult
    open func signout(with account: MSALAccount, signoutParameters: MSALSignoutParameters) async throws -> Bool {
        let session = try configured()
        return try await session.perform(try session.signout(account, signoutParameters))
    }

    // MARK: The device

    /// What is known of the device. Inert: nothing. The block is called on the calling thread before the method returns, unless
    /// the parameters name a queue.
    @preconcurrency
    open func getDeviceInformation(
        with parameters: MSALParameters?,
        completionBlock: @escaping @Sendable (MSALDeviceInformation?, (any Error)?) -> Void
    ) {
        Completion<Void>(queue: parameters?.completionBlockQueue) { _ in completionBlock(MSALDeviceInformation(), nil) }
            .report(.success(()))
    }

    /// What is known of the device. Inert: nothing.
    open func deviceInformation(with parameters: MSALParameters?) async throws -> MSALDeviceInformation {
        MSALDeviceInformation()
    }

    /// Inert: always false, since Apple's broker is not here.
    open var isCompatibleAADBrokerAvailable: Bool { false }

    /// The version of MSAL's API that this module reproduces.
    open class var sdkVersion: String? { "2.13.0" }
}

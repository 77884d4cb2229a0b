internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// The sign-ins under way: begun by one request, finished by another, and ended when nobody answers in time.
///
/// The two ways to sign in are in `SignInSessions+Browser` and `SignInSessions+DeviceCode`. Used on the actor of `CacheOwner`
/// only.
final class SignInSessions {
    let memory: CacheMemory
    let authorities: AuthorityResolver
    let saver: TokenSaver
    let service: any TokenService
    let tasks: TaskTracker
    let loop: any EventLoop
    let logger: Logger
    /// How long a browser that has connected to the redirect URI may take to send its request.
    let browserTimeout: Duration
    private var sessions: [String: SignInSession] = [:]

    init(_ core: AgentCore, browserTimeout: Duration) {
        memory = core.memory
        authorities = core.authorities
        saver = core.saver
        service = core.service
        tasks = core.tasks
        loop = core.loop
        logger = core.logger
        self.browserTimeout = browserTimeout
    }

    /// Why no other sign-in can begin now; nil if one can.
    var refusalOfMore: TokenError? {
        sessions.values.count { $0.ending == nil } < Self.limit ? nil : Self.tooMany
    }

    /// Keeps a sign-in until it is finished, cancelled or expired.
    ///
    /// - Returns: its session ID.
    func begin(
        _ method: SignInSession.Method, lifetime seconds: Int64, isolation: isolated (any Actor)? = #isolation
    ) -> String {
        let id = PKCE.randomText()
        let expiry = tasks.schedule(after: .seconds(seconds)) { self.expire(id) }
        sessions[id] = SignInSession(method: method, expiry: expiry, ended: loop.makePromise(of: Void.self))
        return id
    }

    /// The session that an app is going to wait for; from now on no other call can.
    func claim(_ id: String) throws(TokenError) -> SignInSession {
        guard let session = sessions[id] else { throw Self.unknown }
        guard !session.isAwaited else { throw Self.awaited }
        if let ending = session.ending {
            finish(id)
            throw ending
        }
        sessions[id]?.isAwaited = true
        return session
    }

    /// Why a session has ended; nil while it goes on.
    func ending(of id: String) -> TokenError? {
        guard let session = sessions[id] else { return Self.unknown }
        return session.ending
    }

    /// Ends a session whose result has been delivered.
    func finish(_ id: String) { sessions.removeValue(forKey: id)?.close() }

    /// Gives up a sign-in; the app that waits for it is told. Without effect if there is no such session.
    func cancel(_ id: String) { end(id, Self.cancelled) }

    /// Gives up every sign-in: the agent is stopping.
    func cancelAll() {
        for id in sessions.keys { cancel(id) }
    }

    /// The account that signed in has to be the one asked for. One that was deleted and created anew in the same tenant
    /// counts as the same.
    func check(_ result: TokenResult, against asked: AccountReference) throws(TokenError) {
        guard let wanted = asked.homeAccountID, let found = result.account.homeAccountID, wanted != found else {
            return
        }
        let sameTenant = wanted.tenantID != nil && wanted.tenantID == found.tenantID
        let sameName = asked.username != nil && asked.username?.lowercased() == result.account.username?.lowercased()
        guard sameTenant && sameName else {
            var details = TokenError.Details()
            details.partialResult = result
            throw TokenError(
                .mismatchedAccount, "another account signed in than the one asked for", details: details)
        }
    }

    /// The reason stays until the app that waits has picked it up; a session that nobody waits for is forgotten at once.
    private func end(_ id: String, _ reason: TokenError) {
        guard let session = sessions[id] else { return }
        guard session.isAwaited else { return finish(id) }
        sessions[id]?.ending = reason
        session.close()
    }

    /// Ends a session that nobody finished in time. The reason is kept until an app has picked it up, at least for
    /// `expiredRetention`.
    private func expire(_ id: String, isolation: isolated (any Actor)? = #isolation) {
        guard let session = sessions[id] else { return }
        logExpiry(of: session.method)
        sessions[id]?.ending = session.method.expired
        session.close()
        guard !session.isAwaited else { return }
        sessions[id]?.expiry = tasks.schedule(after: Self.expiredRetention) { self.finish(id) }
    }

    /// How long the reason of an expiry is kept for a request that has not come yet to wait for the result.
    private static let expiredRetention = TimeAmount.seconds(60)

    /// More sign-ins at the same time than people can finish; each has a listener of its own.
    private static let limit = 64

    private static let tooMany = TokenError(
        .interactionInProgress, "\(limit) sign-ins are under way already; finish or cancel one of them")
    private static let awaited = TokenError(.interactionInProgress, "another call waits for this sign-in already")
    private static let cancelled = TokenError(.sessionCanceled, "the sign-in was cancelled")
    static let unknown = TokenError(
        .sessionCanceled, "there is no such sign-in; it was finished, cancelled or has expired")
}

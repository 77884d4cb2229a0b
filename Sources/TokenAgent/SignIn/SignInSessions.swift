internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// The sign-in sessions in progress. One request begins a session, a second one waits for its result; a session expires if the
/// user does not finish it in time, and ends with the connection that it belongs to.
///
/// A session belongs to the connection that began it, until another connection waits for its result: then to that one.
/// `BrowserSignIn.swift` and `DeviceCodeSignIn.swift` have the two methods. Used on the actor of `CacheOwner` only.
final class SignInSessions {
    let memory: CacheMemory
    let authorities: AuthorityResolver
    let saver: TokenSaver
    let service: any TokenService
    let tasks: TaskTracker
    let loop: any EventLoop
    let logger: Logger
    /// The clock, in seconds since 1970.
    let now: @Sendable () -> Int64
    /// Limits the messages that an app can cause without a response of a provider.
    let messageLimit: MessageLimit
    /// The user whose browser is redirected.
    let userID: UInt32
    /// How long a browser that has connected to the redirect URI may take to send its request.
    let browserTimeout: Duration
    private var sessions: [String: SignInSession] = [:]
    /// The connections for which a session is being begun, by session ID.
    private var reservations: [String: ConnectionID] = [:]
    /// Why sessions that are being begun have ended with all others, by session ID.
    private var refusals: [String: TokenError] = [:]
    /// The open connections. A request may be answered after its connection has closed, if it had to wait for the store.
    private var connections: Set<ConnectionID> = []

    init(_ core: AgentCore, userID: UInt32, browserTimeout: Duration) {
        memory = core.memory
        authorities = core.authorities
        saver = core.saver
        service = core.service
        tasks = core.tasks
        loop = core.loop
        logger = core.logger
        now = core.now
        messageLimit = MessageLimit(logger: core.logger, now: core.now)
        self.userID = userID
        self.browserTimeout = browserTimeout
    }

    /// The number of sign-ins in progress.
    var count: Int { reservations.count + sessions.values.count { $0.ending == nil } }

    func connectionOpened(_ connection: ConnectionID) { connections.insert(connection) }

    /// Ends the sessions of a connection that has closed, since no call can receive their results any more. Those whose provider is being
    /// asked count until it has answered: a peer could otherwise begin any number of them.
    func connectionClosed(_ connection: ConnectionID) {
        connections.remove(connection)
        for (id, session) in sessions where session.connection == connection {
            if session.ending == nil { end(id, Self.disconnected) } else if !session.isAwaited { finish(id) }
        }
    }

    /// Reserves a place for a session that a connection begins, until `register` or `cancelReservation`.
    ///
    /// - Returns: the ID of the session.
    /// - Throws: `interactionInProgress` if the peer at the other end, or all together, have too many sessions;
    ///   `sessionCanceled` if the connection has closed.
    func reserve(for connection: ConnectionID) throws(TokenError) -> String {
        guard connections.contains(connection) else { throw Self.disconnected }
        let inUse = sessions.values.filter { $0.ending == nil || $0.isAwaited }
        let active = Array(reservations.values) + inUse.map(\.connection)
        guard active.count < Self.limit else { throw Self.tooMany }
        guard active.count(where: { $0.isOfSamePeer(as: connection) }) < Self.peerLimit else {
            throw Self.tooManyOfPeer
        }
        let id = PKCE.randomText()
        reservations[id] = connection
        return id
    }

    /// Has no effect on a session that is registered.
    func cancelReservation(_ id: String) { (reservations[id], refusals[id]) = (nil, nil) }

    /// Registers the session of a reservation until it is finished, cancelled or expired.
    ///
    /// - Throws: `sessionCanceled` if its connection has closed meanwhile, or the reason of `cancelAll`; the session is then closed.
    func register(_ method: SignInSession.Method, as id: String, lifetime seconds: Int64) throws(TokenError) {
        guard let connection = reservations.removeValue(forKey: id), connections.contains(connection) else {
            method.close()
            throw refusals[id] ?? Self.disconnected
        }
        let expiry = tasks.schedule(after: .seconds(seconds)) { self.expire(id) }
        sessions[id] = SignInSession(
            method: method, connection: connection, expiry: expiry, ended: loop.makePromise(of: Void.self))
    }

    /// Returns a session for a call that will wait for its result. The session then belongs to the connection of the call.
    ///
    /// - Parameter isExpected: whether the call is for sessions of this method; one of the other method is unknown to it.
    /// - Throws: the error of a session that has ended; `interactionInProgress` if another call waits already.
    func claim(
        _ id: String, for connection: ConnectionID, where isExpected: (SignInSession.Method) -> Bool
    ) throws(TokenError) -> SignInSession {
        guard let session = sessions[id], isExpected(session.method) else { throw Self.unknown }
        if let ending = session.ending {
            // A call that still waits for the session finishes it.
            if !session.isAwaited { finish(id) }
            throw ending
        }
        guard !session.isAwaited else { throw Self.awaited }
        guard connections.contains(connection) else { throw Self.disconnected }
        sessions[id]?.isAwaited = true
        sessions[id]?.connection = connection
        return session
    }

    /// What the request that has begun a session asked for; nil if there is no such session.
    func parameters(of id: String) -> TokenParameters? { sessions[id]?.method.parameters }

    /// The error a session has ended with; nil while it is in progress.
    func ending(of id: String) -> TokenError? {
        guard let session = sessions[id] else { return Self.unknown }
        return session.ending
    }

    /// Removes a session whose result is delivered.
    func finish(_ id: String) { sessions.removeValue(forKey: id)?.close() }

    /// Cancels a session: the call that waits for it fails with `sessionCanceled`, unless its response has arrived. Has no effect on
    /// an unknown ID.
    func cancel(_ id: String) { end(id, Self.cancelled) }

    /// Ends every session, and those that are being begun, when the agent stops or its store is locked.
    ///
    /// - Parameter reason: the error of the calls that wait. Not `sessionCanceled`, since an app shows nothing for what its user or itself
    ///   has cancelled.
    func cancelAll(_ reason: TokenError) {
        for id in reservations.keys { refusals[id] = reason }
        reservations = [:]
        for id in sessions.keys { end(id, reason) }
    }

    /// Checks that the requested account has signed in.
    ///
    /// - Throws: `mismatchedAccount` (-51117), with the result of the other account.
    func check(
        _ result: TokenResult, against requested: AccountReference, _ parameters: TokenParameters
    ) throws(TokenError) {
        guard requested.isEmpty || result.isOf(requested) || isKnown(result.account, as: requested, parameters) else {
            var details = TokenError.Details()
            details.correlationID = result.correlationID
            details.partialResult = result
            details.hasChangedCache = true
            throw TokenError(
                .mismatchedAccount, "another account signed in than the one asked for", details: details)
        }
    }

    /// Whether a request without an identifier names the account by the user ID that ADAL has given its apps, now or before a rename.
    private func isKnown(
        _ account: Account, as requested: AccountReference, _ parameters: TokenParameters
    ) -> Bool {
        guard requested.homeAccountID == nil, let name = requested.username, let identifier = account.homeAccountID
        else { return false }
        return memory.cache.isAccount(
            identifier, named: name, at: parameters.authority, in: parameters.sharingGroup)
    }

    /// Ends a session with an error, which is kept for the call that waits for it. Without such a call the session is removed.
    private func end(_ id: String, _ reason: TokenError) {
        guard let session = sessions[id] else { return }
        guard session.isAwaited else { return finish(id) }
        sessions[id]?.ending = reason
        session.close()
    }

    /// Ends a session that has expired. Its error is kept until a call has received it, but no longer than `expiredRetention`
    /// if no call waits, and for a limited number of sessions of a peer: a provider may have a code expire at once.
    private func expire(_ id: String) {
        guard let session = sessions[id] else { return }
        logExpiry(of: session.method)
        sessions[id]?.ending = session.method.expired
        session.close()
        guard !session.isAwaited else { return }
        let expired = sessions.values.count {
            $0.ending != nil && $0.connection.isOfSamePeer(as: session.connection)
        }
        guard expired <= Self.peerLimit else { return finish(id) }
        sessions[id]?.expiry = tasks.schedule(after: Self.expiredRetention) { self.finish(id) }
    }

    /// The time for which the error of an expired session is kept for a request that has not arrived yet.
    private static let expiredRetention = TimeAmount.seconds(60)

    /// The maximum number of sessions in progress; each browser sign-in has a listener.
    private static let limit = 64
    /// The maximum number of sessions of one peer, which has one at a time if it uses MSAL or ADAL.
    private static let peerLimit = 8

    private static let tooMany = TokenError(
        .interactionInProgress, "\(limit) sign-ins are under way already; finish or cancel one of them")
    private static let tooManyOfPeer = TokenError(
        .interactionInProgress,
        "\(peerLimit) sign-ins of this app are under way already; finish or cancel one of them")
    private static let awaited = TokenError(.interactionInProgress, "another call waits for this sign-in already")
    private static let cancelled = TokenError(.sessionCanceled, "the sign-in was cancelled")
    private static let disconnected = TokenError(
        .sessionCanceled, "the connection that the sign-in belongs to has closed")
    static let unknown = TokenError(
        .sessionCanceled, "there is no such sign-in; it was finished, cancelled or has expired")
}

extension TokenError {
    /// Whether a request failed because it names no sign-in session.
    var isOfUnknownSignIn: Bool { code == .sessionCanceled && message == SignInSessions.unknown.message }
}

extension TokenResult {
    /// Whether the result is of the account that a reference names: by its identifier or, if either has none, by its
    /// username.
    ///
    /// An account with the same username in the same tenant, as after it was deleted and created again, counts as the
    /// same. A result of AD FS of Windows Server 2012 R2 names no user, and counts as one of any account.
    fileprivate func isOf(_ reference: AccountReference) -> Bool {
        if account.homeAccountID == nil, account.username?.trimmedNonEmpty == nil, idToken == nil { return true }
        let names = [account.username, tenantProfile?.username].compactMap { $0?.lowercased() }
        let sameName = reference.username.map { names.contains($0.lowercased()) } ?? false
        guard let wanted = reference.homeAccountID, let found = account.homeAccountID else { return sameName }
        return wanted == found || (wanted.tenantID != nil && wanted.tenantID == found.tenantID && sameName)
    }
}

/// A sign-in session in progress: the user has to finish it in a browser or on another device.
struct SignInSession {
    /// The method of signing in, with the state that redeeming its result needs.
    enum Method: Sendable {
        case browser(BrowserState)
        case deviceCode(BeginDeviceCode, DeviceCodeGrant)

        var isBrowser: Bool { if case .browser = self { true } else { false } }

        /// What the request that has begun the session asked for.
        var parameters: TokenParameters {
            switch self {
            case .browser(let browser): browser.begun.parameters
            case .deviceCode(let begun, _): begun.parameters
            }
        }

        /// Closes the listener, if there is one.
        func close() {
            if case .browser(let browser) = self { browser.redirect.close() }
        }
    }

    struct BrowserState: Sendable {
        let begun: BeginInteractive
        let redirect: LoopbackRedirect
        let pkce: PKCE
        let state: String
        let nonce: String
        let issuer: Endpoints.ExpectedIssuer?
    }

    let method: Method
    /// The connection with which the session ends.
    var connection: ConnectionID
    /// Ends the session when it expires.
    var expiry: Timers.Timer
    /// Completes when the session ends, which ends the pause between two polls for a device code.
    let ended: EventLoopPromise<Void>
    /// Whether a call waits for the result.
    var isAwaited = false
    /// The error the session has ended with; nil while it is in progress.
    var ending: TokenError?

    /// Stops the expiry timer, the polling and the listener of the session.
    func close() {
        expiry.cancel()
        ended.succeed()
        method.close()
    }
}

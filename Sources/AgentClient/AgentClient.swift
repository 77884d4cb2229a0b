internal import AgentSocket
@_exported public import TokenModel
internal import TokenWire

/// Sends requests to the agent: one async method for each request of the protocol.
///
/// Safe to use from any thread or task, with any number of concurrent calls, which share one connection and one thread. Calls may end in
/// any order. If the agent has restarted between two calls, the client reconnects.
///
/// A call returns its reply, or throws a `TokenError`. Besides its own errors, every call can throw these:
///
/// | code | reason |
/// |---|---|
/// | `malformedMessage` (-53001) | a value of the request is beyond a limit of PROTOCOL.md, or the reply cannot be read |
/// | `frameTooLarge` (-53002) | the request is too long |
/// | `unsupportedProtocolVersion` (-53003) | the agent is of an earlier version than the request |
/// | `agentUnavailable` (-53004) | no agent is running and none can be started, or it has stopped before it replied |
/// | `peerNotAuthorized` (-53005) | another user's process listens on the socket |
/// | `timedOut` (-53006) | the agent has not replied in time |
/// | `cancelled` (-53007) | the calling task is cancelled |
/// | `storeUnavailable` (-53008) | the request needs the cache, and the store is locked or cannot be read |
/// | `requestDenied` (-53011) | the access policy or a limit refuses the request |
///
/// If no agent listens at the default path, the client starts the one that is installed, unless a service manager has a unit for it, the
/// user is root, the app runs in a sandbox, `SSO_AGENT_START` is `0`, or `start_on_demand` is false in the agent's configuration.
///
/// In a copy (`fork`) of a process that has made a client, every call fails with `agentUnavailable` (-53004).
public final class AgentClient: Sendable {
    /// The path of the socket that the agent listens on.
    public let socketPath: String
    private let appName: String?
    let timeout: Duration
    let connection: AgentConnection
    /// The results that are kept; nil if every request is sent.
    private let results: KeptResults?

    /// Creates a client of the agent at `socketPath`; it connects at the first call.
    ///
    /// The results of silent requests that the agent answers from its cache are kept, if the agent allows it, and
    /// returned again while they hold, without asking the agent. After a sign-out of an account has been acknowledged to any
    /// app, no result that was kept before is returned.
    ///
    /// - Parameters:
    ///   - socketPath: nil takes `$SSO_AGENT_SOCK`, else `sso-agent/agent.sock` in the runtime folder, else `run/agent.sock` in the folder
    ///     of the store if there is no runtime folder, as on macOS.
    ///   - appName: the name of the app in the agent's log; nil takes the program's name.
    ///   - timeout: the time limit of a call, and of each page of a list; the calls that wait for a sign-in, a confirmation, a lock, an
    ///     export or the end of an import have limits of their own.
    ///   - keepsResults: false sends every request to the agent, as `SSO_AGENT_KEEP_TOKENS=0` in the environment does.
    public convenience init(
        socketPath: String? = nil, appName: String? = nil, timeout: Duration = .seconds(90), keepsResults: Bool = true
    ) {
        let results = keepsResults && AgentEnvironment.current.keepsTokens ? KeptResults() : nil
        self.init(socketPath: socketPath, appName: appName, timeout: timeout, results: results)
    }

    /// - Parameter clock: the clock by which kept results hold, in seconds since 1970; for tests.
    package convenience init(socketPath: String, clock: @escaping @Sendable () -> Int64) {
        self.init(
            socketPath: socketPath, appName: nil, timeout: .seconds(600), results: KeptResults(clock: clock))
    }

    /// - Parameter restartsAgent: whether an agent that has stopped after its first reply is started again.
    private init(
        socketPath: String?, appName: String?, timeout: Duration, results: KeptResults?, restartsAgent: Bool = true
    ) {
        let path = socketPath ?? AgentEnvironment.current.socketPath
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        self.socketPath = path
        self.appName = appName
        self.timeout = timeout
        self.results = results
        self.connection = AgentConnection(
            path: path, appName: appName ?? program ?? "app", results: results, restartsAgent: restartsAgent)
    }

    deinit { connection.close() }

    /// A client of the same agent with a connection of its own, for a subscription: it connects again as long as it exists, and must not
    /// start an agent that its user has stopped.
    func withSeparateConnection() -> AgentClient {
        AgentClient(socketPath: socketPath, appName: appName, timeout: timeout, results: nil, restartsAgent: false)
    }

    /// Closes the connection. Calls in flight and later calls fail.
    func close() { connection.close() }

    /// The client of the user's agent, at the default socket path.
    public static let shared = AgentClient()

    /// The error of every call in a copy (`fork`) of a process that has made a client; nil in any other process.
    ///
    /// Code with completion blocks asks for it before it starts a task: in a copy, tasks and queues may never run.
    package static var errorOfCopiedProcess: TokenError? { AgentConnection.errorOfCopiedProcess }

    /// Returns an access token from the cache, or by redeeming a refresh token, without user interaction.
    ///
    /// - Parameters:
    ///   - request: the app, the account and the scopes.
    ///   - limit: the time limit of the call; nil takes that of the client.
    /// - Throws: `interactionRequired` (-51115) if only a sign-in can help; `ambiguousAccount` (-51200) if several accounts match the
    ///   username, or several are signed in and the request names none; `declinedScopes` (-51415), with the result for the granted scopes;
    ///   `authorityValidation` (-51600) or `unsupportedFunctionality` (-51114) if the authority is unknown or cannot be validated;
    ///   `networkUnavailable` (-53009) if the identity provider cannot be reached; `storeUnavailable` (-53008) if the store is locked or
    ///   cannot be read or written; else the error of the token endpoint.
    public func acquireTokenSilent(
        _ request: AcquireTokenSilent, limit: Duration? = nil
    ) async throws(TokenError) -> TokenResult {
        if let result = keptResult(for: request), !Task.isCancelled { return result }
        guard let results, let generations = results.generations(for: request) else {
            return try await call(request, timeout: limit)
        }
        var request = request
        request.wantsFreshness = true
        var result = try await call(request, timeout: limit)
        results.keep(result, for: request, since: generations)
        result.freshness = nil
        return result
    }

    /// Returns the kept result of a silent request, without asking the agent; nil if there is none that holds.
    package func keptResult(for request: AcquireTokenSilent) -> TokenResult? { results?.result(for: request) }

    /// Starts a sign-in in a browser; `signIn(_:presenter:)` does the whole of it in one call.
    ///
    /// If the call ends before the agent has answered, the sign-in is cancelled when it has.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) or `authorityValidation` (-51600) if the authority cannot be used,
    ///   `unsupportedFunctionality` (-51114) if it cannot be validated, `authorizationFailed` (-51440) if the agent cannot listen for the
    ///   redirect, `sessionCanceled` (-51701) if the connection has closed, `interactionInProgress` (-51710) if the agent has too many
    ///   sign-ins in progress, `networkUnavailable` (-53009) if the identity provider cannot be reached, or its error.
    public func beginInteractive(_ request: BeginInteractive) async throws(TokenError) -> BeginInteractive.Reply {
        return try await begin(request) { $0.sessionID }
    }

    /// Waits, at most `limit`, for the end of a sign-in in a browser, and returns its token.
    ///
    /// - Throws: `mismatchedAccount` (-51117) and `declinedScopes` (-51415), with a result whose tokens are saved, `accessDenied` (-51416),
    ///   `invalidState` (-51420), `authorizationFailed` (-51440), `sessionCanceled` (-51701), `interactionInProgress` (-51710) if another
    ///   call waits for it, `timedOut` (-53006) if no response arrived in time, `serverInvalidResponse` (-51401) if it is not for this
    ///   sign-in, `storeUnavailable` (-53008) if the tokens cannot be written, which may be kept in memory, or the token endpoint's error.
    public func completeInteractive(
        _ request: CompleteInteractive, limit: Duration = .seconds(900)
    ) async throws(TokenError) -> TokenResult {
        return try await call(request, timeout: limit)
    }

    /// Starts a sign-in on another device (RFC 8628).
    ///
    /// If the call ends before the agent has answered, the sign-in is cancelled when it has.
    ///
    /// - Throws: as `beginInteractive(_:)`, and `unsupportedFunctionality` (-51114) if the authority has no device code endpoint.
    public func beginDeviceCode(_ request: BeginDeviceCode) async throws(TokenError) -> BeginDeviceCode.Reply {
        return try await begin(request) { $0.sessionID }
    }

    /// Starts a sign-in. If its reply comes after the call has ended, the sign-in is cancelled: it would occupy its
    /// port until it expires.
    private func begin<Request: WireRequest>(
        _ request: Request, _ sessionID: @escaping @Sendable (Request.Reply) -> String
    ) async throws(TokenError) -> Request.Reply {
        try await call(request) { [weak self] late in
            guard let self, let reply = try? late.reply(to: Request.self) else { return }
            Task { await self.cancelSignIn(sessionID(reply)) }
        }
    }

    /// Waits, at most `limit`, for the end of a sign-in on another device, and returns its token.
    ///
    /// - Throws: `mismatchedAccount` (-51117) and `declinedScopes` (-51415), with a result whose tokens are saved, `accessDenied` (-51416),
    ///   `sessionCanceled` (-51701), `interactionInProgress` (-51710) if another call waits for this sign-in, `timedOut` (-53006) if the
    ///   code has expired, `serverInvalidResponse` (-51401) if the response or its ID token is not for this sign-in, `storeUnavailable`
    ///   (-53008) as `completeInteractive(_:limit:)`, or the error of the token endpoint.
    public func completeDeviceCode(
        _ request: CompleteDeviceCode, limit: Duration = .seconds(1800)
    ) async throws(TokenError) -> TokenResult {
        return try await call(request, timeout: limit)
    }

    /// Cancels a sign-in; succeeds also if there is none with that ID.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func cancelInteraction(_ request: CancelInteraction) async throws(TokenError) {
        _ = try await call(request)
    }

    /// Lists every account that matches, in a stable order; empty if none does. Requests as many pages as there are.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func listAccounts(_ request: ListAccounts) async throws(TokenError) -> [Account] {
        var accounts: [Account] = []
        try await pages(of: request) { accounts.append(page: $0.accounts) }
        return accounts
    }

    /// Signs an account out of one app, or of all apps.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the removal could not be written to disk; it is in effect nevertheless, and
    ///   the agent keeps trying to write it. Also thrown if the store is not open, which `keyStatus()` reports: nothing was
    ///   removed then.
    public func removeAccount(_ request: RemoveAccount) async throws(TokenError) -> RemoveAccount.Reply {
        return try await call(request)
    }

    /// Reports the agent's version, paths, number of accounts and the state of its store.
    ///
    /// - Parameter includesMetrics: whether to report the agent's measurements too.
    /// - Throws: as every call; see `AgentClient`.
    public func status(includesMetrics: Bool = false) async throws(TokenError) -> AgentStatus {
        var status = try await call(GetStatus(includesMetrics: includesMetrics))
        // As in a failure, no command is taken from another user's agent.
        if !AgentEnvironment.current.expectsOwnAgent { status.nextCommand = nil }
        return status
    }

    /// Asks the agent to check its environment, and returns the result of each check.
    ///
    /// - Throws: `requestDenied` (-53011) if this process waits for eight diagnoses already.
    public func diagnose(_ request: Diagnose = Diagnose()) async throws(TokenError) -> Diagnose.Reply {
        return try await call(request)
    }

    /// Asks the agent to read its configuration again, and returns what has changed.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112), with the file and the line, if the configuration cannot be used; the agent then
    ///   keeps the one that it has.
    public func reloadConfiguration() async throws(TokenError) -> ReloadConfiguration.Reply {
        return try await call(ReloadConfiguration())
    }

    /// Returns the agent's version and the requests that it supports. An app need not send this: the client itself does with each
    /// connection.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func hello(_ request: Hello) async throws(TokenError) -> Hello.Reply {
        return try await call(request)
    }

    /// Sends a request and waits for its reply, at most `limit`. A reply that arrives at once, as that of a cache hit, is waited for on
    /// the calling thread.
    ///
    /// - Parameter lateReply: called with a reply that comes after the call has ended without it; must not block.
    func call<Request: WireRequest>(
        _ request: Request, timeout limit: Duration? = nil, lateReply: PendingCall.LateReply? = nil
    ) async throws(TokenError) -> Request.Reply {
        if Task.isCancelled { throw AgentConnection.cancelled }
        switch try connection.exchange(request) {
        case .replied(let reply): return try reply.answer(to: Request.self)
        case .unfinished(let call):
            return try await outcome(of: call, timeout: limit, lateReply: lateReply).get().answer(to: Request.self)
        }
    }

    /// Waits for the reply to a call that `AgentConnection.finish` has not ended, at most `limit`.
    func outcome(
        of call: StartedCall, timeout limit: Duration? = nil, lateReply: PendingCall.LateReply? = nil
    ) async -> AgentConnection.Outcome {
        let deadline = MonotonicTime.now.advanced(by: limit ?? timeout)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                connection.wait(for: call, deadline: deadline, lateReply: lateReply) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            connection.abandon(call.id)
        }
    }
}

extension ReplyFrame {
    /// The reply to a request of this type. A result that was read together with its frame is not decoded again.
    ///
    /// - Throws: as `reply(to:)`.
    func answer<Request: WireRequest>(to type: Request.Type) throws(TokenError) -> Request.Reply {
        // The type is known statically here; `reply(to:)`, of another module, would look it up for each reply.
        if Request.self == AcquireTokenSilent.self, let result = result as? Request.Reply { return result }
        do throws(TokenError) { return try reply(to: type) } catch {
            // The agent is stopping. Apps take a cancelled call for one that they have cancelled themselves.
            guard error.code != .cancelled else { throw AgentConnection.stopped }
            guard error.details.nextCommand != nil, !AgentEnvironment.current.expectsOwnAgent else { throw error }
            // Another user's agent could have a person, or a script, run any command.
            var error = error
            error.details.nextCommand = nil
            throw error
        }
    }
}

/// Requests about single credentials, grants that the app holds, and the current account.
extension AgentClient {
    /// Lists every credential of a sharing group, in a stable order. Refresh tokens come without their secret. Requests
    /// as many pages as there are.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func listCredentials(_ request: ListCredentials) async throws(TokenError) -> [Credential] {
        var credentials: [Credential] = []
        try await pages(of: request) { credentials += $0.credentials }
        return credentials
    }

    /// Removes one credential.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the removal could not be written to disk, or the store is not open.
    public func removeCredential(_ request: RemoveCredential) async throws(TokenError) -> RemoveCredential.Reply {
        return try await call(request)
    }

    /// Redeems a refresh token or an assertion that the app holds, and saves the tokens; counts as a sign-in.
    ///
    /// - Throws: the error of the token endpoint, such as `invalidGrant` (-51412), after which the cache is unchanged; `declinedScopes`
    ///   (-51415), with the result for the granted scopes, whose tokens are saved; `storeUnavailable` (-53008) if the tokens cannot be saved.
    public func redeemGrant(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        return try await call(request)
    }

    /// Returns the one account that is signed in to the app, and the one in the previous reply to the app.
    ///
    /// - Throws: `ambiguousAccount` (-51200) if several accounts are signed in, or more than 256 have tokens of the app or of a family of
    ///   apps.
    public func currentAccount(_ request: GetCurrentAccount) async throws(TokenError) -> GetCurrentAccount.Reply {
        return try await call(request)
    }
}

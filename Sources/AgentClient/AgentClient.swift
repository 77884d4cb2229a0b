internal import AgentSocket
internal import Dispatch
@_exported public import TokenModel
internal import TokenWire

/// The way to the agent: one async method for each request of the protocol.
///
/// Safe to use from any thread or task, as many calls at a time as you like; they share one connection and one thread.
/// Every call ends: with its reply, with a `TokenError` from the agent, or with `timedOut` (-53006), `cancelled` (-53007,
/// when the calling task is cancelled) or `agentUnavailable` (-53004, no agent is running). An agent that restarts
/// between two calls is reconnected to silently. Calls end in no particular order.
public final class AgentClient: Sendable {
    /// Where the agent of this client listens.
    public let socketPath: String
    private let timeout: Duration
    private let connection: AgentConnection

    /// A client of the agent at `socketPath`; nothing is opened before the first call.
    ///
    /// - Parameters:
    ///   - socketPath: nil takes `$SSO_AGENT_SOCK`, else `$XDG_RUNTIME_DIR/sso-agent/agent.sock`.
    ///   - appName: what the agent's log calls this app.
    ///   - timeout: how long a call may take; waiting for a person to sign in has a limit of its own.
    public init(socketPath: String? = nil, appName: String? = nil, timeout: Duration = .seconds(90)) {
        let path = socketPath ?? AgentEnvironment.current.socketPath
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init)
        self.socketPath = path
        self.timeout = timeout
        self.connection = AgentConnection(path: path, appName: appName ?? program ?? "app")
    }

    deinit { connection.close() }

    /// The client of this process's own agent, shared by everything that names no other.
    public static let shared = AgentClient()

    /// An access token from the cache, or by redeeming a refresh token; nobody is bothered.
    ///
    /// - Throws: `interactionRequired` (-51115) when only a sign-in can help, and what the token endpoint answered.
    public func acquireTokenSilent(_ request: AcquireTokenSilent) async throws(TokenError) -> TokenResult {
        let reply = try await call(.acquireTokenSilent(request))
        guard case .acquireTokenSilent(let result) = reply else { throw Self.unexpected }
        return result
    }

    /// Starts a sign-in in a browser; see `signIn(_:presenter:)` for all of it in one call.
    public func beginInteractive(_ request: BeginInteractive) async throws(TokenError) -> BeginInteractive.Reply {
        let reply = try await call(.beginInteractive(request), isRepeatable: false)
        guard case .beginInteractive(let begun) = reply else { throw Self.unexpected }
        return begun
    }

    /// Waits, at most `limit`, for the user to come back from the browser.
    ///
    /// - Throws: `mismatchedAccount` (-51117), `accessDenied` (-51416), `sessionCanceled` (-51701) and what the token
    ///   endpoint answered.
    public func completeInteractive(
        _ request: CompleteInteractive, limit: Duration = .seconds(900)
    ) async throws(TokenError) -> TokenResult {
        let reply = try await call(.completeInteractive(request), timeout: limit, isRepeatable: false)
        guard case .completeInteractive(let result) = reply else { throw Self.unexpected }
        return result
    }

    /// Starts a sign-in on another device.
    public func beginDeviceCode(_ request: BeginDeviceCode) async throws(TokenError) -> BeginDeviceCode.Reply {
        let reply = try await call(.beginDeviceCode(request), isRepeatable: false)
        guard case .beginDeviceCode(let begun) = reply else { throw Self.unexpected }
        return begun
    }

    /// Waits, at most `limit`, for the user to finish on the other device.
    public func completeDeviceCode(
        _ request: CompleteDeviceCode, limit: Duration = .seconds(1800)
    ) async throws(TokenError) -> TokenResult {
        let reply = try await call(.completeDeviceCode(request), timeout: limit, isRepeatable: false)
        guard case .completeDeviceCode(let result) = reply else { throw Self.unexpected }
        return result
    }

    /// Gives up a sign-in; done also when there is none of that name.
    public func cancelInteraction(_ request: CancelInteraction) async throws(TokenError) {
        guard case .cancelInteraction = try await call(.cancelInteraction(request)) else { throw Self.unexpected }
    }

    /// Every account that fits, in a stable order; fetched a page at a time. Empty when there is none.
    public func listAccounts(_ request: ListAccounts) async throws(TokenError) -> [Account] {
        var (accounts, page) = ([Account](), request)
        repeat {
            guard case .listAccounts(let reply) = try await call(.listAccounts(page)) else { throw Self.unexpected }
            accounts.append(page: reply.accounts)
            page.after = reply.next
        } while page.after != nil
        return accounts
    }

    /// Signs an account out of one app, or of all.
    ///
    /// - Throws: `storeUnavailable` (-53008) when it could not be written down. The agent hands out nothing of it any more
    ///   all the same, and goes on trying to write it.
    public func removeAccount(_ request: RemoveAccount) async throws(TokenError) -> RemoveAccount.Reply {
        guard case .removeAccount(let reply) = try await call(.removeAccount(request)) else { throw Self.unexpected }
        return reply
    }

    /// The agent's description of itself.
    public func status() async throws(TokenError) -> AgentStatus {
        guard case .getStatus(let status) = try await call(.getStatus(GetStatus())) else { throw Self.unexpected }
        return status
    }

    /// The agent's check of what it stands on.
    public func diagnose(_ request: Diagnose = Diagnose()) async throws(TokenError) -> Diagnose.Reply {
        guard case .diagnose(let reply) = try await call(.diagnose(request)) else { throw Self.unexpected }
        return reply
    }

    /// What the agent can do.
    public func hello(_ request: Hello) async throws(TokenError) -> Hello.Reply {
        guard case .hello(let reply) = try await call(.hello(request)) else { throw Self.unexpected }
        return reply
    }

    static let unexpected = TokenError(.malformedMessage, "the agent's reply does not fit the request")

    func call(
        _ body: Request.Body, timeout limit: Duration? = nil, isRepeatable: Bool = true
    ) async throws(TokenError) -> Reply.Body {
        let id = connection.reserveID()
        let deadline = MonotonicTime.now.advanced(by: limit ?? timeout)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                connection.send(id: id, body, deadline: deadline, isRepeatable: isRepeatable) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            connection.abandon(id)
        }
        return try outcome.get()
    }

    /// Blocks the calling thread until the call ends; the reading thread never waits for it, so it cannot deadlock.
    func wait(
        _ body: Request.Body, timeout limit: Duration? = nil, isRepeatable: Bool = true
    ) throws(TokenError) -> Reply.Body {
        let done = DispatchSemaphore(value: 0)
        let box = OutcomeBox()
        let deadline = MonotonicTime.now.advanced(by: limit ?? timeout)
        connection.send(id: connection.reserveID(), body, deadline: deadline, isRepeatable: isRepeatable) {
            box.fill($0)
            done.signal()
        }
        done.wait()
        return try box.take().get()
    }
}

extension [Account] {
    /// Adds a page of a list. An account with more tenant profiles than a page holds goes on with the next one.
    mutating func append(page: [Account]) {
        guard let first = page.first, let last, last.goesOn(with: first) else { return self += page }
        self[count - 1].tenantProfiles += first.tenantProfiles
        self += page.dropFirst()
    }
}

extension Account {
    /// Whether the first account of the next page is this one again.
    fileprivate func goesOn(with next: Account) -> Bool {
        guard homeAccountID == next.homeAccountID else { return false }
        return homeAccountID != nil || username?.lowercased() == next.username?.lowercased()
    }
}

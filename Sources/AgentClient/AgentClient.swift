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
        return try await call(request)
    }

    /// Starts a sign-in in a browser; see `signIn(_:presenter:)` for all of it in one call.
    public func beginInteractive(_ request: BeginInteractive) async throws(TokenError) -> BeginInteractive.Reply {
        return try await call(request)
    }

    /// Waits, at most `limit`, for the user to come back from the browser.
    ///
    /// - Throws: `mismatchedAccount` (-51117), `accessDenied` (-51416), `sessionCanceled` (-51701) and what the token
    ///   endpoint answered.
    public func completeInteractive(
        _ request: CompleteInteractive, limit: Duration = .seconds(900)
    ) async throws(TokenError) -> TokenResult {
        return try await call(request, timeout: limit)
    }

    /// Starts a sign-in on another device.
    public func beginDeviceCode(_ request: BeginDeviceCode) async throws(TokenError) -> BeginDeviceCode.Reply {
        return try await call(request)
    }

    /// Waits, at most `limit`, for the user to finish on the other device.
    public func completeDeviceCode(
        _ request: CompleteDeviceCode, limit: Duration = .seconds(1800)
    ) async throws(TokenError) -> TokenResult {
        return try await call(request, timeout: limit)
    }

    /// Gives up a sign-in; done also when there is none of that name.
    public func cancelInteraction(_ request: CancelInteraction) async throws(TokenError) {
        _ = try await call(request)
    }

    /// Every account that fits, in a stable order; fetched a page at a time. Empty when there is none.
    public func listAccounts(_ request: ListAccounts) async throws(TokenError) -> [Account] {
        var (accounts, page) = ([Account](), request)
        repeat {
            let reply = try await call(page)
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
        return try await call(request)
    }

    /// The agent's description of itself.
    public func status() async throws(TokenError) -> AgentStatus {
        return try await call(GetStatus())
    }

    /// The agent's check of what it stands on.
    public func diagnose(_ request: Diagnose = Diagnose()) async throws(TokenError) -> Diagnose.Reply {
        return try await call(request)
    }

    /// What the agent can do.
    public func hello(_ request: Hello) async throws(TokenError) -> Hello.Reply {
        return try await call(request)
    }

    /// Sends a request and waits for its reply, at most `limit`.
    func call<Request: WireRequest>(
        _ request: Request, timeout limit: Duration? = nil
    ) async throws(TokenError) -> Request.Reply {
        let id = connection.reserveID()
        let deadline = MonotonicTime.now.advanced(by: limit ?? timeout)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                connection.send(request, id: id, deadline: deadline) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            connection.abandon(id)
        }
        return try outcome.get()
    }

    /// Blocks the calling thread until the call ends; the reading thread never waits for it, so it cannot deadlock.
    func wait<Request: WireRequest>(
        _ request: Request, timeout limit: Duration? = nil
    ) throws(TokenError) -> Request.Reply {
        let done = DispatchSemaphore(value: 0)
        let box = OutcomeBox<Request.Reply>()
        let deadline = MonotonicTime.now.advanced(by: limit ?? timeout)
        connection.send(request, id: connection.reserveID(), deadline: deadline) {
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

/// The cache seen credential by credential, and grants that the app holds itself.
extension AgentClient {
    /// Everything a sharing group holds, in a stable order; fetched a page at a time. Refresh tokens come without their secret.
    public func listCredentials(_ request: ListCredentials) async throws(TokenError) -> [Credential] {
        var (credentials, page) = ([Credential](), request)
        repeat {
            let reply = try await call(page)
            credentials += reply.credentials
            page.after = reply.next
        } while page.after != nil
        return credentials
    }

    /// Removes one credential.
    ///
    /// - Throws: `storeUnavailable` (-53008) when it could not be written down.
    public func removeCredential(
        _ request: RemoveCredential
    ) async throws(TokenError) -> RemoveCredential.Reply {
        return try await call(request)
    }

    /// Trades a refresh token or an assertion of the app's own for tokens, and has them saved; counts as a sign-in.
    ///
    /// - Throws: what the token endpoint answered, such as `invalidGrant` (-51412); the cache is then as it was.
    public func redeemGrant(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        return try await call(request)
    }

    /// The one account that is signed in to the app, and the one it was the last time the app asked.
    ///
    /// - Throws: `ambiguousAccount` (-51200) when several are signed in.
    public func currentAccount(_ request: GetCurrentAccount) async throws(TokenError) -> GetCurrentAccount.Reply {
        // Not repeated: the second answer would give the first as the previous one.
        return try await call(request)
    }
}

extension AgentClient {
    /// Where the key of the agent's store comes from, and whether the store is open.
    public func keyStatus() async throws(TokenError) -> KeyStatus {
        return try await call(GetKey())
    }

    /// Has the store's key come from another source from now on; what the old one held is taken back.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the source has no key to give, or the store cannot be written;
    ///   `invalidDeveloperParameter` (-51112) for a passphrase that is missing or empty.
    @discardableResult
    public func setKey(_ request: SetKey) async throws(TokenError) -> KeyStatus {
        return try await call(request)
    }

    /// Has the agent open its store; done also when it is open.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the passphrase is wrong, or the key's source does not answer.
    @discardableResult
    public func unlock(_ request: Unlock) async throws(TokenError) -> KeyStatus {
        return try await call(request)
    }
}

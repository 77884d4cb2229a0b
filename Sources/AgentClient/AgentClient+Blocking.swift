internal import Dispatch
internal import Synchronization
public import TokenModel
internal import TokenWire

/// Blocking forms of requests, for the synchronous methods of the compatibility modules, such as
/// `MSALPublicClientApplication.allAccounts()`.
///
/// Each blocks the calling thread until the agent has answered, which takes microseconds for what is in the cache, or until the client's
/// time-out, which is that of each page of a list. Use the async methods from async code.
extension AgentClient {
    /// The blocking form of `listAccounts(_:)`.
    ///
    /// - Throws: as `listAccounts(_:)`.
    public func listAccountsAndWait(_ request: ListAccounts) throws(TokenError) -> [Account] {
        var accounts: [Account] = []
        try waitForPages(of: request) { accounts.append(page: $0.accounts) }
        return accounts
    }

    /// The blocking form of `currentAccount(_:)`.
    ///
    /// - Throws: as `currentAccount(_:)`.
    public func currentAccountAndWait(_ request: GetCurrentAccount) throws(TokenError) -> GetCurrentAccount.Reply {
        return try wait(request)
    }

    /// The blocking form of `removeAccount(_:)`.
    ///
    /// - Throws: as `removeAccount(_:)`.
    public func removeAccountAndWait(_ request: RemoveAccount) throws(TokenError) -> RemoveAccount.Reply {
        return try wait(request)
    }

    /// The blocking form of `listCredentials(_:)`.
    ///
    /// - Throws: as `listCredentials(_:)`.
    public func listCredentialsAndWait(_ request: ListCredentials) throws(TokenError) -> [Credential] {
        var credentials: [Credential] = []
        try waitForPages(of: request) { credentials += $0.credentials }
        return credentials
    }

    /// The blocking form of `removeCredential(_:)`.
    ///
    /// - Throws: as `removeCredential(_:)`.
    public func removeCredentialAndWait(_ request: RemoveCredential) throws(TokenError) -> RemoveCredential.Reply {
        return try wait(request)
    }
}

extension AgentClient {
    /// Blocks the calling thread until the call ends. Cannot deadlock, because the reading thread never waits for a
    /// caller.
    func wait<Request: WireRequest>(
        _ request: Request, timeout limit: Duration? = nil
    ) throws(TokenError) -> Request.Reply {
        switch try connection.exchange(request) {
        case .replied(let reply): return try reply.answer(to: Request.self)
        case .unfinished(let call):
            return try waitForOutcome(of: call, timeout: limit).get().answer(to: Request.self)
        }
    }

    /// The blocking form of `outcome(of:timeout:)`.
    func waitForOutcome(of call: StartedCall, timeout limit: Duration? = nil) -> AgentConnection.Outcome {
        let done = DispatchSemaphore(value: 0)
        let box = OutcomeBox()
        connection.wait(for: call, deadline: MonotonicTime.now.advanced(by: limit ?? timeout)) {
            box.set($0)
            done.signal()
        }
        done.wait()
        return box.get()
    }
}

/// Passes the outcome of a call to the thread that waits for it.
private final class OutcomeBox: Sendable {
    private let outcome = Mutex<AgentConnection.Outcome?>(nil)

    func set(_ value: AgentConnection.Outcome) { outcome.withLock { $0 = value } }

    func get() -> AgentConnection.Outcome {
        outcome.withLock { $0 } ?? .failure(TokenError(.internalError, "a call ended without an outcome"))
    }
}

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
    /// The error of every call in a copy (`fork`) of a process that has made a client; nil in any other process.
    ///
    /// Code with completion blocks asks for it before it starts a task: in a copy, tasks and queues may never run.
    package static var errorOfCopiedProcess: TokenError? { AgentConnection.errorOfCopiedProcess }
}

/// Passes the outcome of a call to the thread that waits for it.
final class OutcomeBox: Sendable {
    private let outcome = Mutex<AgentConnection.Outcome?>(nil)

    func set(_ value: AgentConnection.Outcome) { outcome.withLock { $0 = value } }

    func get() -> AgentConnection.Outcome {
        outcome.withLock { $0 } ?? .failure(TokenError(.internalError, "a call ended without an outcome"))
    }
}

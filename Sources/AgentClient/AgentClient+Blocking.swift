internal import Synchronization
public import TokenModel
internal import TokenWire

/// The requests that the compat modules' synchronous methods need, such as `MSALPublicClientApplication.allAccounts()`.
///
/// They block the calling thread until the agent answers (microseconds, for what the cache knows) or the client's
/// timeout passes. From async code, use the async methods.
extension AgentClient {
    /// `listAccounts(_:)`, blocking.
    public func listAccountsAndWait(_ request: ListAccounts) throws(TokenError) -> [Account] {
        var (accounts, page) = ([Account](), request)
        repeat {
            guard case .listAccounts(let reply) = try wait(.listAccounts(page)) else { throw Self.unexpected }
            accounts += reply.accounts
            page.after = reply.next
        } while page.after != nil
        return accounts
    }

    /// `currentAccount(_:)`, blocking.
    public func currentAccountAndWait(_ request: GetCurrentAccount) throws(TokenError) -> GetCurrentAccount.Reply {
        let reply = try wait(.getCurrentAccount(request), isRepeatable: false)
        guard case .getCurrentAccount(let current) = reply else { throw Self.unexpected }
        return current
    }

    /// `removeAccount(_:)`, blocking.
    public func removeAccountAndWait(_ request: RemoveAccount) throws(TokenError) -> RemoveAccount.Reply {
        guard case .removeAccount(let reply) = try wait(.removeAccount(request)) else { throw Self.unexpected }
        return reply
    }

    /// `listCredentials(_:)`, blocking.
    public func listCredentialsAndWait(_ request: ListCredentials) throws(TokenError) -> [Credential] {
        var (credentials, page) = ([Credential](), request)
        repeat {
            guard case .listCredentials(let reply) = try wait(.listCredentials(page)) else { throw Self.unexpected }
            credentials += reply.credentials
            page.after = reply.next
        } while page.after != nil
        return credentials
    }

    /// `removeCredential(_:)`, blocking.
    public func removeCredentialAndWait(_ request: RemoveCredential) throws(TokenError) -> RemoveCredential.Reply {
        guard case .removeCredential(let reply) = try wait(.removeCredential(request)) else { throw Self.unexpected }
        return reply
    }
}

/// Carries a call's outcome from the reading thread to the waiting one.
final class OutcomeBox: Sendable {
    private let outcome = Mutex<AgentConnection.Outcome?>(nil)

    func fill(_ value: AgentConnection.Outcome) { outcome.withLock { $0 = value } }

    func take() -> AgentConnection.Outcome {
        outcome.withLock { $0 } ?? .failure(TokenError(.internalError, "a call ended without an outcome"))
    }
}

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
            let reply = try wait(page)
            accounts.append(page: reply.accounts)
            page.after = reply.next
        } while page.after != nil
        return accounts
    }

    /// `currentAccount(_:)`, blocking.
    public func currentAccountAndWait(_ request: GetCurrentAccount) throws(TokenError) -> GetCurrentAccount.Reply {
        return try wait(request)
    }

    /// `removeAccount(_:)`, blocking.
    public func removeAccountAndWait(_ request: RemoveAccount) throws(TokenError) -> RemoveAccount.Reply {
        return try wait(request)
    }

    /// `listCredentials(_:)`, blocking.
    public func listCredentialsAndWait(_ request: ListCredentials) throws(TokenError) -> [Credential] {
        var (credentials, page) = ([Credential](), request)
        repeat {
            let reply = try wait(page)
            credentials += reply.credentials
            page.after = reply.next
        } while page.after != nil
        return credentials
    }

    /// `removeCredential(_:)`, blocking.
    public func removeCredentialAndWait(_ request: RemoveCredential) throws(TokenError) -> RemoveCredential.Reply {
        return try wait(request)
    }
}

/// Carries a call's outcome from the reading thread to the waiting one.
final class OutcomeBox<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, TokenError>?>(nil)

    func fill(_ value: Result<Value, TokenError>) { outcome.withLock { $0 = value } }

    func take() -> Result<Value, TokenError> {
        outcome.withLock { $0 } ?? .failure(TokenError(.internalError, "a call ended without an outcome"))
    }
}

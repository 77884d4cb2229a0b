internal import AgentClient
internal import Foundation
internal import TokenModel

extension AppSession {
    /// The accounts that fit, the agent's first.
    func accounts(_ filter: AccountFilter) throws(NSError) -> [MSALAccount] {
        merged(try agentAccountsAndWait(filter), filter)
    }

    /// The agent's accounts that fit, without blocking; `merged(_:_:)` makes MSAL's accounts of them.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func agentAccounts(_ filter: AccountFilter) async throws -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        await serializedCache?.tell { $0.announceAccess() }
        do throws(TokenError) {
            return try await client.listAccounts(settings.listRequest(filter))
        } catch {
            throw MSALError.asyncError(for: error)
        }
    }

    /// The same, blocking the calling thread.
    func agentAccountsAndWait(_ filter: AccountFilter) throws(NSError) -> [Account] {
        guard !filter.isUnsatisfiable else { return [] }
        serializedCache?.announceAccess()
        do throws(TokenError) {
            return try client.listAccountsAndWait(settings.listRequest(filter))
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// MSAL's accounts for the agent's, and those of external account providers; none where the filter is unsatisfiable.
    func merged(_ accounts: [Account], _ filter: AccountFilter) -> [MSALAccount] {
        guard !filter.isUnsatisfiable else { return [] }
        return externalAccounts.merged(accounts.map { MSALAccount($0) }, filter: filter)
    }

    /// The account with this identifier; a miss is not an MSAL error.
    func account(identifier: String) throws(NSError) -> MSALAccount {
        let accounts = try accounts(AccountFilter(MSALAccountEnumerationParameters(identifier: identifier)))
        guard let account = accounts.first else { throw AccountLookupError.notFound("identifier \(identifier)") }
        return account
    }

    /// The first account with this name; a miss is not an MSAL error.
    func account(username: String) throws(NSError) -> MSALAccount {
        guard username.trimmedNonEmpty != nil else { throw AccountLookupError.blankUsername }
        let filter = AccountFilter(MSALAccountEnumerationParameters(identifier: nil, username: username))
        guard let account = try accounts(filter).first else {
            throw AccountLookupError.notFound("username \(username)")
        }
        return account
    }
}

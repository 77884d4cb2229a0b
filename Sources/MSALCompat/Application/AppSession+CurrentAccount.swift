internal import AgentClient
internal import Foundation
internal import TokenModel

extension AppSession {
    /// Who is signed in and who was, as the agent knows it.
    ///
    /// - Throws: `CancellationError` when the calling task is cancelled, else an error of MSAL's.
    func agentsCurrentAccount() async throws -> GetCurrentAccount.Reply {
        do throws(TokenError) {
            return try await client.currentAccount(currentAccountRequest)
        } catch {
            throw MSALError.asyncError(for: error)
        }
    }

    /// The same, blocking the calling thread.
    func agentsCurrentAccountAndWait() throws(NSError) -> GetCurrentAccount.Reply {
        do throws(TokenError) {
            return try client.currentAccountAndWait(currentAccountRequest)
        } catch {
            throw MSALError.error(for: error)
        }
    }

    /// The same as MSAL's accounts; those of external account providers count too.
    func currentAccount(
        _ reply: GetCurrentAccount.Reply
    ) throws(NSError) -> (account: MSALAccount?, previous: MSALAccount?) {
        let accounts = merged(reply.account.map { [$0] } ?? [], AccountFilter())
        guard accounts.count < 2 else {
            throw MSALError.error(.internalErrorAmbiguousAccount, "several accounts are signed in")
        }
        return (accounts.first, reply.previous.map { MSALAccount($0, listsTenants: false) })
    }

    private var currentAccountRequest: GetCurrentAccount {
        GetCurrentAccount(clientID: settings.clientID, sharingGroup: settings.sharingGroup)
    }
}

internal import AgentClient
internal import Foundation
internal import TokenModel

extension AppSession {
    /// Who is signed in and who was, as the agent knows it.
    func agentsCurrentAccount() async throws(NSError) -> GetCurrentAccount.Reply {
        do throws(TokenError) {
            return try await client.currentAccount(
                GetCurrentAccount(clientID: settings.clientID, sharingGroup: settings.sharingGroup))
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
}

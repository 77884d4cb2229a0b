internal import AgentClient
internal import Foundation
internal import TokenModel

/// A sign-out as a value: what to remove, and whom to tell.
///
/// Unchecked for the one object in it, the account for external account providers, which never changes.
struct Signout: @unchecked Sendable {
    let request: RemoveAccount
    let account: MSALAccount
    let wipesAccount: Bool
}

extension AppSession {
    /// - Throws: -50000 with -42000 when the account has neither identifier nor name.
    func signout(_ account: MSALAccount, _ parameters: MSALSignoutParameters) throws(NSError) -> Signout {
        let extent: RemoveAccount.Extent =
            if parameters.wipeCacheForAllAccounts { .everything } else if parameters.wipeAccount { .account } else {
                .app
            }
        return Signout(
            request: try settings.removal(of: account, extent: extent), account: account,
            wipesAccount: parameters.wipeAccount)
    }

    /// Removes, then tells external account providers; true when both went well.
    func perform(_ signout: Signout) async throws -> Bool {
        do throws(TokenError) {
            _ = try await client.removeAccount(signout.request)
        } catch {
            throw MSALError.error(for: error)
        }
        try externalAccounts.remove(signout.account, wipeAccount: signout.wipesAccount)
        return true
    }
}

internal import AgentClient
internal import Foundation
internal import TokenModel

/// Signing out. Each returns whether it was done, also when there was nothing to do; when not, `error` says why.
extension ADKeychainTokenCache {
    /// Signs everyone out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the client ID is blank.
    @discardableResult
    public func removeAll(
        forClientId clientId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        report(error) { () throws(ADAuthenticationError) in
            guard let app = ClientID(clientId) else { throw .invalidArgument("clientId must not be blank") }
            try remove(username: nil, app, .app)
        }
    }

    /// Signs one person out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name or the client ID is blank.
    @discardableResult
    public func removeAll(
        forUserId userId: String, clientId: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        report(error) { () throws(ADAuthenticationError) in
            guard let app = ClientID(clientId) else { throw .invalidArgument("clientId must not be blank") }
            try remove(username: try name(userId), app, .app)
        }
    }

    /// Signs one person out of every app of the group, those that use MSAL too.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name is blank.
    @discardableResult
    public func wipeAllItems(
        forUserId userId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        report(error) { () throws(ADAuthenticationError) in
            // The request names an app, which makes no difference to this extent; the program's name is for the agent's log.
            guard let app = ClientID(ProcessInfo.processInfo.processName) else {
                throw .invalidArgument("the program has no name")
            }
            try remove(username: try name(userId), app, .account)
        }
    }

    private func name(_ userId: String) throws(ADAuthenticationError) -> String {
        guard let name = ADUserInformation.normalizeUserId(userId) else {
            throw .invalidArgument("userId must not be blank")
        }
        return name
    }

    /// Removes each account of the name: one name may stand for several accounts.
    private func remove(
        username: String?, _ app: ClientID, _ extent: RemoveAccount.Extent
    ) throws(ADAuthenticationError) {
        let group = SharingGroup(adalName: sharedGroup)
        do throws(TokenError) {
            let accounts = try agent.listAccountsAndWait(
                ListAccounts(
                    clientID: extent == .app ? app : nil, sharingGroup: group, username: username, onlySignedIn: false))
            for account in accounts {
                _ = try agent.removeAccountAndWait(
                    RemoveAccount(clientID: app, sharingGroup: group, account: account.reference, extent: extent))
            }
        } catch {
            throw ADAuthenticationError(error)
        }
    }

    private func report(
        _ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?,
        _ work: () throws(ADAuthenticationError) -> Void
    ) -> Bool {
        do throws(ADAuthenticationError) {
            try work()
            return true
        } catch let failure {
            error?.pointee = failure
            return false
        }
    }
}

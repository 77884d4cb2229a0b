internal import AgentClient
internal import Foundation
internal import TokenModel

/// The items of a sharing group of the agent's cache, in ADAL's terms. Its methods block the calling thread.
struct CachedItems: Sendable {
    let agent: AgentClient
    let group: SharingGroup

    /// Lists every item of the group: access tokens that ADAL apps requested, and refresh tokens, without their secret.
    func all() throws(ADAuthenticationError) -> [ADTokenCacheItem] {
        do throws(TokenError) { return try entries().map(\.item) } catch { throw ADAuthenticationError(error) }
    }

    /// Removes the item with the key and the user of `item`; succeeds also if there is none.
    func remove(_ item: ADTokenCacheItem) throws(ADAuthenticationError) {
        guard let key = Key(item) else {
            throw .invalidArgument("an item needs an authority and a client ID to be removed")
        }
        do throws(TokenError) {
            for entry in try entries() where Key(entry.item) == key { try remove(entry) }
        } catch {
            throw ADAuthenticationError(error)
        }
    }

    /// Signs every account out of one app, of which the app has a token. The accounts of other apps of its family stay usable for it.
    func removeAll(clientID: String) throws(ADAuthenticationError) {
        guard let app = ClientID(clientID) else { throw .invalidArgument("clientId must not be blank") }
        do throws(TokenError) {
            let credentials = try agent.listCredentialsAndWait(
                ListCredentials(sharingGroup: group, withoutSecrets: true)
            ).filter { $0.clientID == app }
            let held = Set(credentials.map(\.account.identity))
            try signOut(username: nil, app, .app) { held.contains($0.identity) }
            // Tokens without a user belong to no account, and are removed one by one.
            for credential in credentials where credential.account.isEmpty { try remove(credential.id) }
        } catch {
            throw ADAuthenticationError(error)
        }
    }

    /// Signs one user out of one app.
    func removeAll(userID: String, clientID: String) throws(ADAuthenticationError) {
        guard let app = ClientID(clientID) else { throw .invalidArgument("clientId must not be blank") }
        let name = try name(userID)
        do throws(TokenError) { try signOut(username: name, app, .app) } catch { throw ADAuthenticationError(error) }
    }

    /// Signs one user out of every app of the group.
    func wipe(userID: String) throws(ADAuthenticationError) {
        // Every app is signed out, whichever client ID the request has; the program's name appears in the agent's log.
        guard let app = ClientID(ProcessInfo.processInfo.processName) else {
            throw .invalidArgument("the program has no name")
        }
        let name = try name(userID)
        do throws(TokenError) { try signOut(username: name, app, .account) } catch {
            throw ADAuthenticationError(error)
        }
    }

    private func name(_ userID: String) throws(ADAuthenticationError) -> String {
        guard let name = ADUserInformation.normalizeUserId(userID) else {
            throw .invalidArgument("userId must not be blank")
        }
        return name
    }

    /// Signs out each account with the name: several accounts may have one name.
    private func signOut(
        username: String?, _ app: ClientID, _ extent: RemoveAccount.Extent,
        where isIncluded: (AccountReference) -> Bool = { _ in true }
    ) throws(TokenError) {
        let accounts = try agent.listAccountsAndWait(
            ListAccounts(
                clientID: extent == .app ? app : nil, sharingGroup: group, username: username, onlySignedIn: false))
        for account in accounts where isIncluded(account.reference) {
            _ = try agent.removeAccountAndWait(
                RemoveAccount(
                    clientID: app, sharingGroup: group, account: account.reference, extent: extent,
                    environment: account.environment))
        }
    }

    private func remove(_ entry: Entry) throws(TokenError) {
        for id in entry.ids { try remove(id) }
    }

    private func remove(_ id: String) throws(TokenError) {
        _ = try agent.removeCredentialAndWait(RemoveCredential(sharingGroup: group, id: id))
    }

    /// Lists the items with their credentials: a refresh token for one resource belongs to the item of its access
    /// token.
    private func entries() throws(TokenError) -> [Entry] {
        var entries: [Entry] = []
        var places: [Key: Int] = [:]
        let credentials = try agent.listCredentialsAndWait(ListCredentials(sharingGroup: group, version: .v1))
        for credential in credentials {
            let item = ADTokenCacheItem(credential)
            guard let key = Key(item) else { continue }
            guard let place = places[key] else {
                places[key] = entries.count
                entries.append(Entry(item: item, ids: [credential.id]))
                continue
            }
            entries[place].ids.append(credential.id)
            let known = entries[place].item
            known.representsRefreshToken = known.representsRefreshToken || item.representsRefreshToken
        }
        return entries
    }

    private struct Entry {
        var item: ADTokenCacheItem
        /// The identifiers of the item's credentials.
        var ids: [String]
    }

    /// The values by which ADAL finds an item.
    private struct Key: Hashable {
        let authority: String
        let resource: String?
        let clientID: String
        let userID: String?

        /// Returns nil if the authority is not valid, or the client ID is blank.
        init?(_ item: ADTokenCacheItem) {
            guard let authority = CanonicalAuthority(item.authority),
                let clientID = item.clientId?.trimmedNonEmpty?.lowercased()
            else { return nil }
            self.clientID = clientID
            resource = item.resource?.trimmedNonEmpty?.lowercased()
            self.authority = authority.cacheAuthority(isTenantless: resource == nil)
            userID = item.userInformation?.userId
        }
    }
}

extension AccountReference {
    /// The reference by which the agent finds the account: the identifier, or else the username in lower case.
    fileprivate var identity: AccountReference {
        homeAccountID == nil
            ? AccountReference(username: username?.lowercased()) : AccountReference(homeAccountID: homeAccountID)
    }
}

package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The changes of a sign-out; empty if the cache holds nothing of the account.
    package func changes(removing request: RemoveAccount) -> [CacheChange] {
        let partition = partition(request.sharingGroup)
        if request.extent == .everything { return partition.isEmpty ? [] : [.removeEverything] }
        if let identifier = request.account.homeAccountID, partition.accounts(with: identifier).isEmpty {
            // An import may have kept entries for their library without the account, which no list shows.
            return opaqueRecordRemovals(of: identifier, in: partition, request.sharingGroup) {
                request.extent == .account || $0 == request.clientID
            }
        }
        return changes(removing: request, from: accounts(of: request, in: partition))
    }

    /// The accounts that a sign-out removes, or signs its app out of; none if everything is removed.
    package func accounts(removedBy request: RemoveAccount) -> [AccountKey] {
        request.extent == .everything ? [] : accounts(of: request, in: partition(request.sharingGroup))
    }

    /// The changes of a sign-out for some of the accounts that it removes, or signs its app out of.
    package func changes(removing request: RemoveAccount, from accounts: [AccountKey]) -> [CacheChange] {
        let partition = partition(request.sharingGroup)
        return accounts.flatMap { account -> [CacheChange] in
            let credentials = partition[account]
            guard !credentials.isEmpty,
                !request.isConfined || isKnown(credentials, to: request.clientID, in: partition)
            else { return [] }
            return request.extent == .account
                ? wipe(account, credentials, for: request.clientID, in: partition, request.sharingGroup)
                : signOut(account, credentials, of: request.clientID, in: partition, request.sharingGroup)
        }
    }

    /// The account that a request removes, or from which it signs its app out, by the identifier and the username that the cache has. Beside
    /// an identifier, the request may have any username.
    ///
    /// - Returns: the account as the request names it if it is none of the cache, or several; an empty reference if everything is removed.
    package func account(removedBy request: RemoveAccount) -> AccountReference {
        guard request.extent != .everything else { return AccountReference() }
        let named = request.account
        let requested = AccountReference(
            homeAccountID: named.homeAccountID, username: named.homeAccountID == nil ? named.username : nil)
        let accounts = accounts(of: request, in: partition(request.sharingGroup)).filter { $0.homeAccountID != nil }
        guard let identifier = accounts.first?.homeAccountID, accounts.allSatisfy({ $0.homeAccountID == identifier })
        else { return requested }
        let username = accounts.lazy.compactMap { self.username(of: $0, in: request.sharingGroup) }.first
        return AccountReference(homeAccountID: identifier, username: username)
    }

    /// The accounts that a request means. An identifier includes accounts that are known only by one of its usernames; and both include the
    /// refresh tokens of an earlier version that may belong to one of the accounts. An account that is known by its username only is not a
    /// personal one: neither is removed with the other.
    func accounts(of request: RemoveAccount, in partition: Partition) -> [AccountKey] {
        let reference = request.account
        var accounts: [AccountKey] = []
        var uncertain: Set<AccountKey> = []
        if let identifier = reference.homeAccountID {
            accounts = partition.accounts(with: identifier).flatMap { home -> [AccountKey] in
                if home.isPersonal { return [home] }
                return partition.profiles(of: home).usernames.sorted().flatMap { name in
                    partition.unidentifiedAccounts(named: name).filter { $0.issuer == home.issuer }
                } + [home]
            }
            let profiles = partition.accounts(with: identifier).flatMap { partition.profiles(of: $0) }
            let hosts = Set(profiles.map(\.environment))
            uncertain = Set(profiles.usernames.map { AccountKey(issuer: .unresolved, identity: .name($0)) })
                .filter { account in
                    partition[account].refreshTokens.values.contains { hosts.contains($0.environment) }
                }
        } else if let name = reference.username {
            accounts = partition.accounts(named: name) + [partition.account(formerlyNamed: name)].compactMap(\.self)
            let issuers = Set(accounts.filter { $0.name != nil }.map(\.issuer))
            accounts.removeAll { $0.isPersonal && issuers.contains($0.issuer) }
            // Very many accounts may have the name, and nearly none of them has such tokens.
            uncertain = Set(
                accounts.lazy.map { AccountKey(issuer: .unresolved, identity: $0.identity) }
                    .filter { partition.contains($0) })
        }
        accounts += uncertain.subtracting(accounts).sorted { $0.key < $1.key }
        return accounts.filter { partition.contains($0) && isAccount($0, at: request.environment, in: partition) }
    }

    /// Whether an account is known at a host. One without account records may be anywhere. Nothing else of it is unpacked.
    private func isAccount(_ account: AccountKey, at environment: String?, in partition: Partition) -> Bool {
        guard let environment else { return true }
        let profiles = partition.profiles(of: account)
        return profiles.isEmpty || profiles.contains { clouds.sameCloud($0.environment, environment) }
    }

    /// Removes the app's own tokens, and its family's refresh token if the app is a member, and no other member is signed in. The account
    /// stays for other apps.
    private func signOut(
        _ account: AccountKey, _ credentials: AccountCredentials, of clientID: ClientID, in partition: Partition,
        _ group: SharingGroup
    ) -> [CacheChange] {
        var changes = credentialRemovals(of: account, credentials, group) { $0 == clientID }
        let shared = credentials.refreshTokens.filter { $0.value.familyID != nil }
        let needed = shared.isEmpty ? [] : families(ofOtherAppsThan: clientID, credentials, in: partition)
        changes += shared.filter { _, token in
            !needed.contains(token.familyID) && isLastMember(clientID, with: token, credentials, in: partition)
        }.keys.sorted().map { remove(.refreshToken, $0, account: account, group) }
        changes += opaqueRecordRemovals(of: account, in: partition, group) { $0 == clientID }
        // An app that found the account only through its family is recorded as signed out, too.
        let signOut = signedOut(account, of: clientID, credentials, unlessKnown: changes.isEmpty)
        guard !signOut.isEmpty else { return changes }
        let signOuts = credentials.metadata.values.filter { $0.signInState == .signedOut }
        let surplus = partition.surplus(of: signOuts.map { ($0.clientID, $0.key) })
        return changes + surplus.map { remove(.accountMetadata, $0, account: account, group) } + signOut
    }

    /// Records the sign-out: silent requests of the app fail until it signs in to this account again.
    private func signedOut(
        _ account: AccountKey, of clientID: ClientID, _ credentials: AccountCredentials, unlessKnown: Bool
    ) -> [CacheChange] {
        if unlessKnown, credentials.isSignedOut(clientID) { return [] }
        // No app gets a token of an account that is not certain, nor one with a client ID that may not be stored, so that it need not be
        // kept from one.
        guard account.issuer != .unresolved, ValueLimits.isIdentifier(clientID.text) else { return [] }
        let record = AccountMetadataRecord(
            account: account, clientID: clientID, signInState: .signedOut, authorityMap: [:])
        return [.save(.accountMetadata(record))]
    }

    /// Removes the account with the credentials of every app.
    private func wipe(
        _ account: AccountKey, _ credentials: AccountCredentials, for clientID: ClientID, in partition: Partition,
        _ group: SharingGroup
    ) -> [CacheChange] {
        var changes = credentialRemovals(of: account, credentials, group) { _ in true }
        changes += credentials.refreshTokens.filter { $0.value.familyID != nil }.keys.sorted()
            .map { remove(.refreshToken, $0, account: account, group) }
        changes += credentials.accounts.keys.sorted().map { remove(.account, $0, account: account, group) }
        changes += credentials.metadata.filter { !$0.key.hasSameBytes(as: clientID.key) }.sorted { $0.key < $1.key }
            .map { remove(.accountMetadata, $0.value.key, account: account, group) }
        changes += opaqueRecordRemovals(of: account, in: partition, group) { _ in true }
        return changes + signedOut(account, of: clientID, credentials, unlessKnown: changes.isEmpty)
    }

    /// Removes the opaque records that name the account.
    private func opaqueRecordRemovals(
        of account: AccountKey, in partition: Partition, _ group: SharingGroup, isIncluded: (ClientID?) -> Bool
    ) -> [CacheChange] {
        guard let identifier = account.homeAccountID else { return [] }
        return opaqueRecordRemovals(of: identifier, in: partition, group, isIncluded: isIncluded)
    }

    private func opaqueRecordRemovals(
        of identifier: HomeAccountID, in partition: Partition, _ group: SharingGroup, isIncluded: (ClientID?) -> Bool
    ) -> [CacheChange] {
        partition.opaqueRecords(naming: identifier).filter { isIncluded($0.clientID.flatMap(ClientID.init)) }
            .sorted { $0.key < $1.key }.map { remove(.opaque, $0.key, account: nil, group) }
    }

    /// Removes the credentials of the apps for which `isIncluded` is true; a family's refresh token belongs to no app.
    func credentialRemovals(
        of account: AccountKey, _ credentials: AccountCredentials, _ group: SharingGroup, isIncluded: (ClientID) -> Bool
    ) -> [CacheChange] {
        let access = credentials.accessTokens.filter { isIncluded($0.value.clientID) }.keys.sorted()
        let refresh = credentials.refreshTokens.filter { isIncluded($0.value.clientID) && $0.value.familyID == nil }
            .keys.sorted()
        let identity = credentials.idTokens.filter { isIncluded($0.value.clientID) }.keys.sorted()
        return access.map { remove(.accessToken, $0, account: account, group) }
            + refresh.map { remove(.refreshToken, $0, account: account, group) }
            + identity.map { remove(.idToken, $0, account: account, group) }
    }

    /// Whether an app belongs to the family of a refresh token, and the app for which the token was issued does not need it any more. An app
    /// whose family is unknown may need it: another library's file need not contain the families of its apps. If the file does not name the
    /// app for which the token was issued, it may be any app that is signed in.
    private func isLastMember(
        _ clientID: ClientID, with token: RefreshTokenRecord, _ credentials: AccountCredentials,
        in partition: Partition
    ) -> Bool {
        if token.clientID == clientID { return true }
        guard family(of: clientID, at: token.environment, in: partition, isConfined: true) == token.familyID else {
            return false
        }
        let holders: Set<ClientID> =
            if token.clientID == token.familyID?.clientID {
                signedInApps(otherThan: clientID, credentials)
            } else {
                credentials.isSignedOut(token.clientID) ? [] : [token.clientID]
            }
        return holders.allSatisfy { appMetadata(of: $0, at: token.environment, in: partition) != nil }
    }

    private func signedInApps(otherThan clientID: ClientID, _ credentials: AccountCredentials) -> Set<ClientID> {
        let apps = credentials.metadata.values.filter { $0.signInState == .signedIn }
            .compactMap { ClientID($0.clientID) }
        return Set(apps.filter { $0 != clientID })
    }

    /// The families of the other apps that are signed in to the account, and so still need their family's refresh token.
    private func families(
        ofOtherAppsThan clientID: ClientID, _ credentials: AccountCredentials, in partition: Partition
    ) -> Set<FamilyID?> {
        let signedIn = signedInApps(otherThan: clientID, credentials)
        return Set(
            partition.apps.values.filter { ClientID($0.clientID).map(signedIn.contains) ?? false }
                .map { FamilyID($0.familyID) })
    }
}

extension Partition {
    /// The records to remove before one of another app is added, if there are too many of apps without metadata, such as those for which no
    /// token was ever issued: any process may name any number of apps.
    ///
    /// - Parameter records: the client ID and the key of each record.
    /// - Returns: the keys.
    func surplus(of records: [(clientID: String, key: String)]) -> [String] {
        guard records.count >= Self.recordsOfUnknownApps else { return [] }
        let known = Set(apps.values.map { $0.clientID.lowercased() })
        let unknown = records.filter { !known.contains($0.clientID.lowercased()) }.map { $0.key }.sorted()
        return Array(unknown.prefix(max(unknown.count - Self.recordsOfUnknownApps + 1, 0)))
    }

    private static var recordsOfUnknownApps: Int { 256 }
}

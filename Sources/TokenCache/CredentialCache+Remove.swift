package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// What a sign-out changes; empty when there is nothing of the account, and then there is nothing to do.
    package func changes(removing request: RemoveAccount) -> [CacheChange] {
        let partition = partition(request.sharingGroup)
        if request.extent == .everything { return partition.isEmpty ? [] : [.removeEverything] }
        return owners(of: request.account, in: partition).flatMap { owner in
            request.extent == .account
                ? wipe(owner, for: request.clientID, in: partition, request.sharingGroup)
                : signOut(owner, of: request.clientID, in: partition, request.sharingGroup)
        }
    }

    /// Every account that the reference means: by identifier also those known by the same name alone.
    private func owners(of reference: AccountReference, in partition: Partition) -> [OwnerID] {
        var owners: [OwnerID] = []
        if let identifier = reference.homeAccountID {
            let home = OwnerID.home(identifier)
            owners = partition[home].names.sorted().map(OwnerID.name) + [home]
        } else if let name = reference.username {
            owners = partition.owners(named: name)
        }
        return owners.filter { !partition[$0].isEmpty }
    }

    /// The app's own tokens go, and the family's with its last member; the account stays for the others.
    private func signOut(
        _ owner: OwnerID, of clientID: ClientID, in partition: Partition, _ group: SharingGroup
    ) -> [CacheChange] {
        let holdings = partition[owner]
        var changes = credentials(of: owner, holdings, group) { $0 == clientID }
        for token in holdings.refreshTokens.values.sorted(by: { $0.key < $1.key }) {
            guard let family = token.familyID, !hasOtherMember(of: family, than: clientID, owner, in: partition) else {
                continue
            }
            changes.append(remove(.refreshToken, token.key, owner: owner, group))
        }
        changes += carried(of: owner, in: partition, group) { $0 == clientID }
        // An app that only ever saw the account through its family signs out of it all the same.
        return changes + signedOut(owner, of: clientID, holdings, unlessKnown: changes.isEmpty)
    }

    /// The record that keeps a sign-out: the app's next sign-in to this account asks for credentials again.
    private func signedOut(
        _ owner: OwnerID, of clientID: ClientID, _ holdings: Holdings, unlessKnown: Bool
    ) -> [CacheChange] {
        if unlessKnown, holdings.isSignedOut(clientID) { return [] }
        let record = AccountMetadataRecord(
            owner: owner, clientID: clientID, signInState: .signedOut, authorityMap: [:])
        return [.save(.accountMetadata(record))]
    }

    private func wipe(
        _ owner: OwnerID, for clientID: ClientID, in partition: Partition, _ group: SharingGroup
    ) -> [CacheChange] {
        let holdings = partition[owner]
        var changes = credentials(of: owner, holdings, group) { _ in true }
        changes += holdings.refreshTokens.values.filter { $0.familyID != nil }.map {
            remove(.refreshToken, $0.key, owner: owner, group)
        }
        changes += holdings.accounts.keys.sorted().map { remove(.account, $0, owner: owner, group) }
        changes += holdings.metadata.filter { $0.key != clientID.key }.values.sorted { $0.key < $1.key }
            .map { remove(.accountMetadata, $0.key, owner: owner, group) }
        changes += carried(of: owner, in: partition, group) { _ in true }
        return changes + signedOut(owner, of: clientID, holdings, unlessKnown: changes.isEmpty)
    }

    /// What is kept for other libraries goes with the account that it names.
    private func carried(
        of owner: OwnerID, in partition: Partition, _ group: SharingGroup, isMeant: (ClientID?) -> Bool
    ) -> [CacheChange] {
        guard let identifier = owner.homeAccountID?.text else { return [] }
        return partition.carried.values
            .filter { $0.homeAccountID == identifier && isMeant($0.clientID.flatMap(ClientID.init)) }
            .sorted { $0.key < $1.key }.map { remove(.carried, $0.key, owner: nil, group) }
    }

    /// The credentials of the apps that `isMeant` chooses; a family's refresh token belongs to no app.
    func credentials(
        of owner: OwnerID, _ holdings: Holdings, _ group: SharingGroup, isMeant: (ClientID) -> Bool
    ) -> [CacheChange] {
        let access = holdings.accessTokens.filter { isMeant($0.value.clientID) }.keys.sorted()
        let refresh = holdings.refreshTokens.filter { isMeant($0.value.clientID) && $0.value.familyID == nil }
            .keys.sorted()
        let identity = holdings.idTokens.filter { isMeant($0.value.clientID) }.keys.sorted()
        return access.map { remove(.accessToken, $0, owner: owner, group) }
            + refresh.map { remove(.refreshToken, $0, owner: owner, group) }
            + identity.map { remove(.idToken, $0, owner: owner, group) }
    }

    /// Whether another app of the family is signed in to the account, and so still needs the family's refresh token.
    private func hasOtherMember(
        of family: FamilyID, than clientID: ClientID, _ owner: OwnerID, in partition: Partition
    ) -> Bool {
        let signedIn = partition[owner].metadata.values.filter { $0.signInState == .signedIn }
        return signedIn.contains { metadata in
            guard let other = ClientID(metadata.clientID), other != clientID else { return false }
            return partition.apps.values.contains { ClientID($0.clientID) == other && $0.familyID == family.text }
        }
    }
}

package import TokenModel
package import TokenStore

/// The rules of the cache, on plain values: who has which credentials, and what follows from that.
///
/// It reads no clock and touches no disk: time is a parameter, and what is to be remembered comes back as changes.
package struct CredentialCache: Sendable, Equatable {
    /// Which hosts are one cloud.
    package var clouds = CloudDirectory()
    private(set) var partitions: [SharingGroup: Partition] = [:]

    package init() {}

    /// Takes in a record that the store held. Of two access tokens that answer the same requests the newer one counts: earlier
    /// versions kept one for each order of the scopes.
    ///
    /// - Returns: whether it has been taken in.
    @discardableResult
    package mutating func load(_ record: CacheRecord, in group: SharingGroup) -> Bool {
        if case .accessToken(let token) = record,
            let held = partitions[group]?[token.owner].accessTokens[token.key], held.isNewer(than: token)
        {
            return false
        }
        partitions[group, default: Partition()].save(record)
        return true
    }

    /// Makes changes true in memory.
    package mutating func apply(_ changes: [CacheChange], in group: SharingGroup) {
        for change in changes {
            switch change {
            case .save(let record): partitions[group, default: Partition()].save(record)
            case .remove(let key, let owner): partitions[group, default: Partition()].remove(key, owner: owner)
            case .removeEverything: partitions[group] = nil
            }
        }
    }

    /// Every record of an account or an app, as it goes to the store. Clouds are learnt again.
    package func everything() throws(TokenError) -> [StoreChange] {
        var changes: [StoreChange] = []
        for (group, partition) in partitions {
            for record in partition.records { changes.append(.put(try record.stored(in: group))) }
        }
        return changes
    }

    /// How many accounts there are, in all sharing groups.
    package var accountCount: Int {
        partitions.values.reduce(0) { $0 + $1.owners.values.count { !$0.accounts.isEmpty } }
    }

    /// The hosts that accounts were saved under.
    package var environments: Set<String> {
        Set(partitions.values.flatMap { $0.owners.values.flatMap { $0.accounts.values.map(\.environment) } })
    }

    func partition(_ group: SharingGroup) -> Partition { partitions[group] ?? Partition() }

    /// The host that credentials of this authority are saved under.
    func cacheEnvironment(of authority: Authority) -> String {
        clouds.cloud(of: authority.environment).preferredCache
    }

    /// The app's family: as the token endpoint last said; an app it never spoke of may belong to the presumed one.
    func family(of clientID: ClientID, at environment: String, in partition: Partition) -> FamilyID? {
        guard let app = appMetadata(of: clientID, at: environment, in: partition) else { return .presumed }
        return FamilyID(app.familyID)
    }

    /// What is known of an app; another library may have saved it under another name of the cloud.
    func appMetadata(
        of clientID: ClientID, at environment: String, in partition: Partition
    ) -> AppMetadataRecord? {
        if let app = partition.apps[AppMetadataRecord.key(clientID.key, at: environment)] { return app }
        return clouds.cacheAliases(of: environment).lazy
            .compactMap { partition.apps[AppMetadataRecord.key(clientID.key, at: $0)] }.first
    }
}

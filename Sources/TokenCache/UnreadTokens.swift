package import TokenModel
package import TokenStore

/// A record in memory whose token is in the store only.
package struct UnreadToken: Sendable, Hashable {
    package let account: AccountKey
    package let key: RecordKey
}

/// Records with tokens that have been read from the store.
package struct ReadTokens: Sendable {
    let records: [(key: RecordKey, record: CacheRecord)]

    /// Decodes records. Those that cannot be decoded are left out.
    package init(_ stored: [StoredRecord]) {
        let texts = TextPool()
        records = stored.compactMap { stored in CacheRecord(stored, texts).map { (stored.key, $0) } }
    }
}

/// Tokens that are in the store only, until a request needs them.
extension CredentialCache {
    /// The unread tokens of accounts.
    package func unreadTokens(of accounts: some Sequence<AccountKey>, in group: SharingGroup) -> [UnreadToken] {
        let partition = partition(group)
        return accounts.flatMap { account in
            partition[account].unreadRecords.map { kind, key in
                UnreadToken(account: account, key: RecordKey(group: group.name, kind: kind, key: key))
            }
        }
    }

    /// Adds tokens that have been read from the store. Records that are not unread stay as they are: what is in memory is never older
    /// than what is in the store.
    ///
    /// A record is added to the account that it belongs to only. Two accounts can have records with one key, of which the store has the one
    /// that was saved last.
    ///
    /// - Parameters:
    ///   - read: the records that the store has of `tokens`.
    /// - Returns: the changes that remove from memory the records that the store does not have, or that cannot be read.
    package mutating func fill(
        with read: ReadTokens, of tokens: [UnreadToken], in group: SharingGroup
    ) -> [CacheChange] {
        var missing = Set(tokens)
        for (key, record) in read.records {
            guard let account = record.header.account,
                missing.remove(UnreadToken(account: account, key: key)) != nil
            else { continue }
            changePartition(group) { $0.fill(record, key: key.key, of: account) }
        }
        let partition = partition(group)
        let accounts = Dictionary(
            missing.map { ($0.account, partition[$0.account]) }, uniquingKeysWith: { first, _ in first })
        return missing.filter { accounts[$0.account]?.isUnread($0.key) ?? false }
            .map { .remove($0.key, account: $0.account) }
    }

    /// Removes the tokens of accounts from memory. They have to be in the store.
    ///
    /// - Parameters:
    ///   - accounts: nil for every account.
    ///   - inUse: refresh tokens that are being redeemed; their accounts stay as they are.
    package mutating func pack(_ accounts: Set<AccountKey>? = nil, in group: SharingGroup, leaving inUse: Set<Secret>) {
        for account in accounts ?? Set(partition(group).accountKeys) where !redeems(account, in: group, inUse) {
            changePartition(group) { $0.pack(account) }
        }
    }

    /// Whether an account has one of the refresh tokens.
    package func redeems(_ account: AccountKey, in group: SharingGroup, _ inUse: Set<Secret>) -> Bool {
        !inUse.isEmpty && partition(group)[account].refreshTokens.values.contains { inUse.contains($0.secret) }
    }
}

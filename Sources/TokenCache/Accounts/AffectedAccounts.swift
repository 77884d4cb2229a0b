package import TokenModel
internal import TokenStore

/// The accounts that changes of records concern.
package enum AffectedAccounts: Sendable, Equatable {
    case some(Set<AccountKey>)
    /// Any account of the sharing group, or more than are compared.
    case any

    /// The kinds of records on which it depends which lists have an account, and what they show of it.
    static let kinds: Set<RecordKind> = [.account, .accountMetadata, .refreshToken]
    /// The largest number of accounts.
    fileprivate static let accountLimit = 256
    /// The largest number of records that are examined to survey all of the accounts. One account may have any number of them.
    package static let recordLimit = 1_000
}

extension CredentialCache {
    /// The accounts that lists may have, or show, otherwise after changes; determined before these are applied.
    ///
    /// What a renewal saves alters no list, so that it affects no account.
    package func accounts(affectedBy changes: [CacheChange], in group: SharingGroup) -> AffectedAccounts {
        let partition = partition(group)
        var keys: Set<AccountKey> = []
        var names: Set<String> = []
        // A record that is added is examined afterwards.
        var size = 0
        for change in changes {
            switch change {
            case .save(.appMetadata(let app)):
                // An app of another family sees other accounts.
                if partition.apps[app.key]?.familyID ?? "" != app.familyID { return .any }
            case .save(let record):
                guard let key = record.header.account, altersLists(record, of: key, in: partition) else { continue }
                if case .account(let account) = record { names.formUnion(account.names) }
                keys.insert(key)
                size += 1
            case .remove(let key, let account):
                if key.kind == .appMetadata { return .any }
                if let account, AffectedAccounts.kinds.contains(key.kind) { keys.insert(account) }
            case .removeEverything: return .any
            }
            guard keys.count <= AffectedAccounts.accountLimit, size <= AffectedAccounts.recordLimit else {
                return .any
            }
        }
        for key in keys { size += partition.surveyedCount(of: key) }
        guard size <= AffectedAccounts.recordLimit else { return .any }
        // An account that is known by its username only is not listed beside one with that name and an identifier.
        for key in keys { names.formUnion(partition.profiles(of: key).usernames) }
        for name in names where !name.isEmpty {
            for other in partition.unidentifiedAccounts(named: name) where keys.insert(other).inserted {
                size += partition.surveyedCount(of: other)
            }
        }
        for key in keys {
            forEachNamesake(of: key, in: partition) { other in
                size += partition.surveyedCount(of: other)
                return size <= AffectedAccounts.recordLimit
            }
        }
        return keys.count <= AffectedAccounts.accountLimit && size <= AffectedAccounts.recordLimit ? .some(keys) : .any
    }

    /// Whether a list may have an account, or show it, otherwise after a record of it has been saved.
    private func altersLists(_ record: CacheRecord, of account: AccountKey, in partition: Partition) -> Bool {
        switch record {
        case .account(let record):
            let known = partition.records(of: account, [.account]).accounts[record.key]
            return known.map { ListedProfile($0) != ListedProfile(record) } ?? true
        case .refreshToken(let token):
            let known = partition.records(of: account, [.refreshToken]).refreshTokens[token.key]
            return known.map {
                $0.clientID != token.clientID || $0.familyID != token.familyID
                    || !$0.environment.hasSameBytes(as: token.environment)
            } ?? true
        case .accountMetadata(let metadata):
            let known = partition.records(of: account, [.accountMetadata]).metadata[metadata.clientID.lowercased()]
            return known?.signInState != metadata.signInState
        case .accessToken, .idToken, .appMetadata, .currentAccount, .opaque: return false
        }
    }
}

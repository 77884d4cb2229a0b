package import TokenModel
internal import TokenStore

/// An account as a list of accounts shows it, without any token. Two listings of an account are compared to find what has changed.
package struct AccountListing: Sendable, Equatable {
    package var account: Account
    /// The apps that have signed in to the account or out of it, by `ClientID.key`; empty for the list of one app.
    package var apps: [String: App]

    package struct App: Sendable, Equatable {
        package var clientID: ClientID
        package var isSignedOut: Bool
    }

    /// The apps that have signed out since an earlier listing.
    package func signOuts(since earlier: AccountListing) -> [ClientID] {
        apps.filter { $0.value.isSignedOut && earlier.apps[$0.key]?.isSignedOut == false }
            .sorted { $0.key < $1.key }.map(\.value.clientID)
    }

    /// Whether anything else has changed than that apps have signed out.
    package func hasFurtherChanges(since earlier: AccountListing) -> Bool {
        guard account == earlier.account else { return true }
        return apps.contains { key, app in !app.isSignedOut && earlier.apps[key] != app }
    }
}

/// The accounts that changes of records concern.
package enum AffectedAccounts: Sendable, Equatable {
    case some(Set<AccountKey>)
    /// Any account of the sharing group.
    case any
}

extension CredentialCache {
    /// The listing of an account by a request for a list; nil if the list does not have it.
    package func listing(of key: AccountKey, for request: ListAccounts) -> AccountListing? {
        let partition = partition(request.sharingGroup)
        let tokens = ListedTokens(in: request.sharingGroup)
        guard var account = account(key, for: request, in: partition, tokens)?.account else { return nil }
        account.homeIDToken = nil
        for index in account.tenantProfiles.indices { account.tenantProfiles[index].idToken = nil }
        var apps: [String: AccountListing.App] = [:]
        if request.clientID == nil {
            for (key, metadata) in partition.records(of: key, [.accountMetadata]).metadata {
                guard let clientID = ClientID(metadata.clientID) else { continue }
                apps[key] = AccountListing.App(clientID: clientID, isSignedOut: metadata.signInState == .signedOut)
            }
        }
        return AccountListing(account: account, apps: apps)
    }

    /// Whether an app has signed out of an account of which there are account records, listed or not.
    package func hasSignedOut(_ clientID: ClientID, of key: AccountKey, in group: SharingGroup) -> Bool {
        let partition = partition(group)
        return partition.hasAccountRecords(key) && partition.records(of: key, [.accountMetadata]).isSignedOut(clientID)
    }

    /// The accounts whose listing changes could alter, before they are applied.
    package func accounts(affectedBy changes: [CacheChange], in group: SharingGroup) -> AffectedAccounts {
        let partition = partition(group)
        var keys: Set<AccountKey> = []
        var names: Set<String> = []
        for change in changes {
            switch change {
            case .save(.appMetadata(let app)):
                // An app of another family sees other accounts.
                if partition.apps[app.key]?.familyID ?? "" != app.familyID { return .any }
            case .save(let record):
                if let key = record.header.account { keys.insert(key) }
                if case .account(let account) = record { names.formUnion(account.names) }
            case .remove(let key, let account):
                if key.kind == .appMetadata { return .any }
                if let account { keys.insert(account) }
            case .removeEverything: return .any
            }
        }
        // An account that is known by its username only is not listed beside one with that name and an identifier.
        for key in keys { names.formUnion(partition.profiles(of: key).usernames) }
        for name in names where !name.isEmpty {
            keys.formUnion(partition.accounts(named: name).lazy.filter { $0.name != nil })
        }
        return keys.count <= Self.longestListOfAffected ? .some(keys) : .any
    }

    private static let longestListOfAffected = 256
}

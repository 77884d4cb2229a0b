internal import TokenCache
internal import TokenModel

/// The apps that an import signs in, and the authorities that led to their tokens.
struct ImportedSignIns {
    /// An app, and an account that it has tokens of.
    private struct SignIn: Hashable {
        var account: AccountKey
        var clientID: ClientID
    }

    /// The sign-ins in the order of the file.
    private var signedIn: [SignIn] = []
    private var isSignedIn: Set<SignIn> = []
    private var authorities: [SignIn: [String: String]] = [:]
    private var shared = SharedTexts()

    /// The limit of realms in one file that led an app to an account's tenants: every token is exported under each of them.
    private static let maximumRealms = 16

    /// Notes that an app has a token of an account.
    mutating func note(_ account: AccountKey, _ clientID: ClientID) {
        let pair = SignIn(account: account, clientID: clientID)
        if isSignedIn.insert(pair).inserted { signedIn.append(pair) }
    }

    /// Notes the tenant that a token's requested realm led to: apps find the token by that realm, and it is exported under it.
    mutating func noteAuthority(of record: CacheRecord, requestedFrom realm: String) {
        switch record {
        case .accessToken(let token): note(token.account, token.clientID, token.environment, realm, token.realm)
        case .idToken(let token): note(token.account, token.clientID, token.environment, realm, token.realm)
        default: break
        }
    }

    private mutating func note(
        _ account: AccountKey, _ clientID: ClientID, _ environment: String, _ requestedRealm: String, _ issuer: String
    ) {
        let pair = SignIn(account: account, clientID: clientID)
        guard authorities[pair, default: [:]].count < Self.maximumRealms else { return }
        authorities[pair, default: [:]][shared("https://\(environment)/\(requestedRealm)")] =
            shared("https://\(environment)/\(issuer)")
    }

    /// The account metadata that changes. Apps whose tokens were imported are signed in, also after a sign-out; other signed-in
    /// apps get the authorities that lead to their tokens.
    func metadata(in partition: Partition, _ clouds: CloudDirectory) -> [AccountMetadataRecord] {
        var changed: [AccountMetadataRecord] = []
        for pair in signedIn where !pair.clientID.isOfFamily {
            let known = partition[pair.account].metadata[pair.clientID.key]
            let before =
                known
                ?? AccountMetadataRecord(
                    account: pair.account, clientID: pair.clientID, signInState: .signedIn, authorityMap: [:])
            let after = updated(before, with: pair, clouds)
            if after != known { changed.append(after) }
        }
        for pair in authorities.keys where !isSignedIn.contains(pair) {
            guard let known = partition[pair.account].metadata[pair.clientID.key], known.signInState == .signedIn else {
                continue
            }
            let after = updated(known, with: pair, clouds)
            if after != known { changed.append(after) }
        }
        return changed
    }

    private func updated(
        _ known: AccountMetadataRecord, with pair: SignIn, _ clouds: CloudDirectory
    ) -> AccountMetadataRecord {
        var metadata = known
        metadata.signInState = .signedIn
        var places = Set(metadata.authorityMap.keys.compactMap { Self.place(of: $0, clouds) })
        for (requested, issuer) in (authorities[pair] ?? [:]).sorted(by: { $0.key < $1.key })
        where metadata.authorityMap.count < AccountMetadataRecord.maximumAuthorities {
            guard let place = Self.place(of: requested, clouds), places.insert(place).inserted else { continue }
            metadata.authorityMap[requested] = issuer
        }
        return metadata
    }

    /// The realm and cloud of an authority, equal for every name of the cloud.
    private static func place(of authority: String, _ clouds: CloudDirectory) -> [String]? {
        RequestedRealm(authority).map {
            [$0.realm, URLParts.host(ofEnvironment: clouds.cloud(of: $0.environment).preferredCache)]
        }
    }
}

internal import TokenModel

/// The apps that an import signs in, and the authorities that led them to their tokens.
struct ImportedSignIns {
    /// An app, and an account that it has got tokens of.
    private struct SignIn: Hashable {
        var owner: OwnerID
        var clientID: ClientID
    }

    /// In the order of the file.
    private var signedIn: [SignIn] = []
    private var isSignedIn: Set<SignIn> = []
    private var authorities: [SignIn: [String: String]] = [:]
    private var shared = SharedTexts()

    /// How many realms may have led an app to an account's tenants: every token is exported under each of them.
    private static let mostRealms = 16

    /// Notes that an app has got a token of an account.
    mutating func note(_ owner: OwnerID, _ clientID: ClientID) {
        let pair = SignIn(owner: owner, clientID: clientID)
        if isSignedIn.insert(pair).inserted { signedIn.append(pair) }
    }

    /// Notes which tenant the realm that a token was asked of led to: how apps find the token, and under what name it is
    /// exported.
    mutating func noteAuthority(of record: CacheRecord, askedOf realm: String) {
        switch record {
        case .accessToken(let token): note(token.owner, token.clientID, token.environment, realm, token.realm)
        case .idToken(let token): note(token.owner, token.clientID, token.environment, realm, token.realm)
        case .account, .refreshToken, .appMetadata, .accountMetadata, .carried, .principal: break
        }
    }

    private mutating func note(
        _ owner: OwnerID, _ clientID: ClientID, _ environment: String, _ askedRealm: String, _ issuer: String
    ) {
        let pair = SignIn(owner: owner, clientID: clientID)
        guard authorities[pair, default: [:]].count < Self.mostRealms else { return }
        authorities[pair, default: [:]][shared("https://\(environment)/\(askedRealm)")] =
            shared("https://\(environment)/\(issuer)")
    }

    /// The account metadata that changes. Apps whose tokens were imported are signed in, whatever was before; others that are
    /// signed in find their tokens by more authorities.
    func metadata(in partition: Partition, _ clouds: CloudDirectory) -> [AccountMetadataRecord] {
        var changed: [AccountMetadataRecord] = []
        for pair in signedIn where !pair.clientID.key.hasPrefix(ADALEntry.familyPrefix) {
            let known = partition[pair.owner].metadata[pair.clientID.key]
            let before =
                known
                ?? AccountMetadataRecord(
                    owner: pair.owner, clientID: pair.clientID, signInState: .signedIn, authorityMap: [:])
            let after = updated(before, with: pair, clouds)
            if after != known { changed.append(after) }
        }
        for pair in authorities.keys where !isSignedIn.contains(pair) {
            guard let known = partition[pair.owner].metadata[pair.clientID.key], known.signInState == .signedIn else {
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
        for (asked, issuer) in (authorities[pair] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let place = Self.place(of: asked, clouds), places.insert(place).inserted else { continue }
            metadata.authorityMap[asked] = issuer
        }
        return metadata
    }

    /// What an authority asks, under whatever name of its cloud.
    private static func place(of authority: String, _ clouds: CloudDirectory) -> [String]? {
        AskedRealm(authority).map {
            [$0.realm, URLParts.host(ofEnvironment: clouds.cloud(of: $0.environment).preferredCache)]
        }
    }
}

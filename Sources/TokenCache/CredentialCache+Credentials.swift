package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// What a sharing group holds, a page at a time, in the order of the credentials' names.
    ///
    /// - Parameter localScheme: how authorities on this machine are reached, `http` or `https`; the others use `https`.
    package func credentials(_ request: ListCredentials, localScheme: String) -> ListCredentials.Reply {
        let partition = partition(request.sharingGroup)
        var left: [Listed] = []
        for (owner, holdings) in partition.owners {
            for (key, token) in holdings.accessTokens {
                if let version = request.version, token.version != version { continue }
                left.append(Listed(id: Self.id(ofKey: key), owner: owner, token: .access(token)))
            }
            for (key, token) in holdings.refreshTokens {
                left.append(Listed(id: Self.id(ofKey: key), owner: owner, token: .refresh(token)))
            }
        }
        if let after = request.after { left.removeAll { $0.id <= after } }
        var page = ListCredentials.Reply(credentials: [])
        var size = 0
        for listed in left.sorted(by: { $0.id < $1.id }) {
            let credential = credential(listed, partition[listed.owner], localScheme: localScheme)
            size += credential.approximateSize
            if !page.credentials.isEmpty, size > Self.pageBytes || page.credentials.count == Self.pageItems {
                page.next = page.credentials.last?.id
                break
            }
            page.credentials.append(credential)
        }
        return page
    }

    /// What removing one credential changes; empty when there is none of that name.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        let id = request.id.lowercased()
        for (owner, holdings) in partition(request.sharingGroup).owners {
            if let key = Self.key(ofID: id, in: holdings.accessTokens) {
                return [remove(.accessToken, key, owner: owner, request.sharingGroup)]
            }
            if let key = Self.key(ofID: id, in: holdings.refreshTokens) {
                return [remove(.refreshToken, key, owner: owner, request.sharingGroup)]
            }
        }
        return []
    }

    /// The name of the credential under a key. The scopes of one may be longer than a text in a message.
    private static func id(ofKey key: String) -> String {
        key.utf8.count <= ValueLimits.text ? key : "\(fingerprintMark)\(Fingerprint.of(key))"
    }

    private static func key(ofID id: String, in tokens: [String: some Any]) -> String? {
        if tokens[id] != nil { return id }
        guard id.hasPrefix(fingerprintMark) else { return nil }
        return tokens.keys.first { Self.id(ofKey: $0) == id }
    }

    private static let fingerprintMark = "sha256:"

    private func credential(_ listed: Listed, _ holdings: Holdings, localScheme: String) -> Credential {
        let account = AccountReference(
            homeAccountID: listed.owner.homeAccountID,
            username: holdings.orderedAccounts.first?.username.trimmedNonEmpty ?? listed.owner.name?.trimmedNonEmpty)
        switch listed.token {
        case .access(let token):
            return Credential(
                id: listed.id, kind: .accessToken, clientID: token.clientID,
                authority: url(token.environment, token.realm, localScheme), version: token.version,
                scopes: token.scopes, accessToken: token.secret, tokenType: token.tokenType,
                expiresOn: token.expiresOn, extendedExpiresOn: token.extendedExpiresOn,
                idToken: holdings.idToken(like: token, clouds)?.idToken, account: account)
        case .refresh(let token):
            return Credential(
                id: listed.id, kind: .refreshToken, clientID: token.clientID, familyID: token.familyID,
                authority: url(token.environment, token.only?.realm ?? "common", localScheme),
                scopes: token.only?.scopes ?? ScopeSet([]), idToken: holdings.idToken(with: token)?.idToken,
                account: account)
        }
    }

    private func url(_ environment: String, _ realm: String, _ localScheme: String) -> String {
        let authority = Authority.common.withEnvironment(environment).withRealm(realm)
        return authority.isLoopback ? "\(localScheme)://\(environment)/\(authority.path)" : authority.url
    }
}

/// A credential on its way into a list.
private struct Listed {
    enum Token {
        case access(AccessTokenRecord)
        case refresh(RefreshTokenRecord)
    }

    var id: String
    var owner: OwnerID
    var token: Token
}

extension Credential {
    /// How many bytes of a message it takes, or a few more.
    fileprivate var approximateSize: Int {
        let texts = [id, clientID.text, familyID?.text, authority, tokenType, idToken, account.username].compactMap(
            \.self)
        return scopes.scopes.reduce(256 + (accessToken?.count ?? 0) + (account.homeAccountID?.text.utf8.count ?? 0)) {
            $0 + 8 + $1.utf8.count
        } + texts.reduce(0) { $0 + 8 + $1.utf8.count }
    }
}

extension Holdings {
    /// The ID token that came with a refresh token, as far as that can be told: the app's own before any other, v1 before v2.
    fileprivate func idToken(with token: RefreshTokenRecord) -> IDTokenRecord? {
        idTokens.values.min {
            ($0.clientID == token.clientID ? 0 : 1, $0.version.rawValue, $0.key)
                < ($1.clientID == token.clientID ? 0 : 1, $1.version.rawValue, $1.key)
        }
    }
}

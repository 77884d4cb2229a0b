package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The credentials of a sharing group, a page at a time, in the order of their identifiers.
    ///
    /// - Parameter localScheme: the URL scheme of authorities on this machine, `http` or `https`; others have `https`.
    package func credentials(_ request: ListCredentials, localScheme: String) -> ListCredentials.Reply {
        let partition = partition(request.sharingGroup)
        var left: [Listed] = []
        for (account, credentials) in partition.accounts {
            for (key, token) in credentials.accessTokens {
                if let version = request.version, token.version != version { continue }
                left.append(Listed(id: Self.id(ofKey: key), account: account, token: .access(token)))
            }
            for (key, token) in credentials.refreshTokens {
                left.append(Listed(id: Self.id(ofKey: key), account: account, token: .refresh(token)))
            }
        }
        if let after = request.after { left.removeAll { $0.id <= after } }
        var page = ListCredentials.Reply(credentials: [])
        var size = 0
        for listed in left.sorted(by: { $0.id < $1.id }) {
            let credential = credential(listed, partition[listed.account], localScheme: localScheme)
            size += credential.approximateSize
            if !page.credentials.isEmpty, size > Self.pageBytes || page.credentials.count == Self.pageItems {
                page.next = page.credentials.last?.id
                break
            }
            page.credentials.append(credential)
        }
        return page
    }

    /// The changes that remove one credential; empty if there is none with that identifier.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        let id = request.id.lowercased()
        for (account, credentials) in partition(request.sharingGroup).accounts {
            if let key = Self.key(ofID: id, in: credentials.accessTokens) {
                return [remove(.accessToken, key, account: account, request.sharingGroup)]
            }
            if let key = Self.key(ofID: id, in: credentials.refreshTokens) {
                return [remove(.refreshToken, key, account: account, request.sharingGroup)]
            }
        }
        return []
    }

    /// The identifier of the credential with a key: the key, or its hash if it is longer than a text in a message.
    private static func id(ofKey key: String) -> String {
        key.utf8.count <= ValueLimits.text ? key : "\(fingerprintMark)\(Fingerprint.of(key))"
    }

    private static func key(ofID id: String, in tokens: [String: some Any]) -> String? {
        if tokens[id] != nil { return id }
        guard id.hasPrefix(fingerprintMark) else { return nil }
        return tokens.keys.first { Self.id(ofKey: $0) == id }
    }

    private static let fingerprintMark = "sha256:"

    private func credential(_ listed: Listed, _ credentials: AccountCredentials, localScheme: String) -> Credential {
        let account = AccountReference(
            homeAccountID: listed.account.homeAccountID,
            username: credentials.orderedAccounts.first?.username.trimmedNonEmpty
                ?? listed.account.name?.trimmedNonEmpty)
        switch listed.token {
        case .access(let token):
            return Credential(
                id: listed.id, kind: .accessToken, clientID: token.clientID,
                authority: url(token.environment, token.realm, localScheme), version: token.version,
                scopes: token.scopes, accessToken: token.secret, tokenType: token.tokenType,
                expiresOn: token.expiresOn, extendedExpiresOn: token.extendedExpiresOn,
                idToken: credentials.idToken(like: token, clouds)?.idToken, account: account)
        case .refresh(let token):
            return Credential(
                id: listed.id, kind: .refreshToken, clientID: token.clientID, familyID: token.familyID,
                authority: url(token.environment, token.restriction?.realm ?? "common", localScheme),
                scopes: token.restriction?.scopes ?? ScopeSet([]), idToken: credentials.idToken(with: token)?.idToken,
                account: account)
        }
    }

    private func url(_ environment: String, _ realm: String, _ localScheme: String) -> String {
        let authority = Authority.common.withEnvironment(environment).withRealm(realm)
        return authority.isLoopback ? "\(localScheme)://\(environment)/\(authority.path)" : authority.url
    }
}

/// A credential that is to be listed.
private struct Listed {
    enum Token {
        case access(AccessTokenRecord)
        case refresh(RefreshTokenRecord)
    }

    var id: String
    var account: AccountKey
    var token: Token
}

extension Credential {
    /// An upper bound of the credential's size in a message, in bytes.
    fileprivate var approximateSize: Int {
        let texts = [id, clientID.text, familyID?.text, authority, tokenType, idToken, account.username].compactMap(
            \.self)
        return scopes.scopes.reduce(256 + (accessToken?.count ?? 0) + (account.homeAccountID?.text.utf8.count ?? 0)) {
            $0 + 8 + $1.utf8.count
        } + texts.reduce(0) { $0 + 8 + $1.utf8.count }
    }
}

extension AccountCredentials {
    /// The ID token that most likely came with a refresh token: the app's own before any other, v1 before v2.
    fileprivate func idToken(with token: RefreshTokenRecord) -> IDTokenRecord? {
        idTokens.values.min {
            ($0.clientID == token.clientID ? 0 : 1, $0.version.rawValue, $0.key)
                < ($1.clientID == token.clientID ? 0 : 1, $1.version.rawValue, $1.key)
        }
    }
}

package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The credentials of a sharing group, a page at a time, in the order of their identifiers.
    ///
    /// - Parameter localScheme: the URL scheme of authorities on this machine, `http` or `https`; others have `https`.
    package func credentials(_ request: ListCredentials, localScheme: String) -> ListCredentials.Reply {
        let partition = partition(request.sharingGroup)
        var page = ListCredentials.Reply(credentials: [])
        var (size, examined, last) = (0, 0, String?.none)
        partition.credentials.forEach(from: request.after) { id, place in
            guard id != request.after else { return true }
            let held = partition[place.account]
            var next = Listed(id, place, held, request.version).map { credential($0, held, localScheme: localScheme) }
            if request.withoutSecrets {
                next?.accessToken = nil
                next?.idToken = nil
            }
            size += next?.approximateSize ?? 0
            let isFull = size > Self.pageBytes || page.credentials.count == Self.pageItems
            guard page.credentials.isEmpty || !isFull, examined < Self.examinedCredentials else {
                page.next = last
                return false
            }
            if let next { page.credentials.append(next) }
            last = id
            examined += 1
            return true
        }
        return page
    }

    /// The changes that remove one credential; empty if there is none with that identifier.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        guard let place = partition(request.sharingGroup).credentials[request.id.lowercased()] else { return [] }
        return [remove(place.kind, place.key, account: place.account, request.sharingGroup)]
    }

    /// The number of credentials that are examined for a page.
    private static let examinedCredentials = 500

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

    /// Nil for an access token of another version than the requested one.
    init?(_ id: String, _ place: CredentialPlace, _ credentials: AccountCredentials, _ version: OAuthVersion?) {
        self.id = id
        account = place.account
        if let token = credentials.refreshTokens[place.key], place.kind == .refreshToken {
            self.token = .refresh(token)
        } else if let token = credentials.accessTokens[place.key], version ?? token.version == token.version {
            self.token = .access(token)
        } else {
            return nil
        }
    }
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

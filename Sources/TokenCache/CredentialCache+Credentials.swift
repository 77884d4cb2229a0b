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
            for (id, token) in holdings.accessTokens where isAfter(id, request) {
                if let version = request.version, token.version != version { continue }
                left.append(Listed(id: id, owner: owner, token: .access(token)))
            }
            for (id, token) in holdings.refreshTokens where isAfter(id, request) {
                left.append(Listed(id: id, owner: owner, token: .refresh(token)))
            }
        }
        var page = ListCredentials.Reply(credentials: [])
        var size = 0
        for listed in left.sorted(by: { $0.id < $1.id }) {
            if size > Self.pageBytes || page.credentials.count == Self.pageItems {
                page.next = page.credentials.last?.id
                break
            }
            let credential = credential(listed, partition[listed.owner], localScheme: localScheme)
            page.credentials.append(credential)
            size += 512 + (credential.idToken?.utf8.count ?? 0) + (credential.accessToken?.count ?? 0)
        }
        return page
    }

    /// What removing one credential changes; empty when there is none of that name.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        let id = request.id.lowercased()
        for (owner, holdings) in partition(request.sharingGroup).owners {
            if holdings.accessTokens[id] != nil {
                return [remove(.accessToken, id, owner: owner, request.sharingGroup)]
            }
            if holdings.refreshTokens[id] != nil {
                return [remove(.refreshToken, id, owner: owner, request.sharingGroup)]
            }
        }
        return []
    }

    private func isAfter(_ id: String, _ request: ListCredentials) -> Bool {
        request.after.map { id > $0 } ?? true
    }

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
                idToken: holdings.idToken(like: token)?.idToken, account: account)
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

extension Holdings {
    /// The ID token that came with a refresh token, as far as that can be told: the app's own before any other, v1 before v2.
    fileprivate func idToken(with token: RefreshTokenRecord) -> IDTokenRecord? {
        idTokens.values.min {
            ($0.clientID == token.clientID ? 0 : 1, $0.version.rawValue, $0.key)
                < ($1.clientID == token.clientID ? 0 : 1, $1.version.rawValue, $1.key)
        }
    }
}

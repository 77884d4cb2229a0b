package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The credentials of a sharing group, a page at a time, in the order of the accounts and of their identifiers.
    ///
    /// - Parameters:
    ///   - localScheme: the URL scheme of authorities on this machine, `http` or `https`; others have `https`.
    ///   - unread: gets the accounts whose tokens have to be read from the store first; the page is of no use then.
    package func credentials(
        _ request: ListCredentials, localScheme: String, _ unread: inout Set<AccountKey>
    ) -> ListCredentials.Reply {
        let partition = partition(request.sharingGroup)
        let start = request.after.map(CredentialListPosition.init)
        var page = CredentialPage(withoutSecrets: request.withoutSecrets)
        partition.order.forEach(from: start?.account) { _, account in
            let held = partition[account]
            for (id, place) in held.credentials(of: account) where start.map({ $0.isBefore(id, of: account) }) ?? true {
                let listed = Listed(id, place, held, request.version)
                let next = listed.map { credential($0, held, localScheme: localScheme) }
                guard page.add(next, id, of: account) else { return false }
                if next != nil, !request.withoutSecrets, held.hasUnreadTokens { unread.insert(account) }
            }
            return true
        }
        return page.reply
    }

    /// The credentials as above, of a cache in which no token is unread.
    package func credentials(_ request: ListCredentials, localScheme: String) -> ListCredentials.Reply {
        var unread: Set<AccountKey> = []
        return credentials(request, localScheme: localScheme, &unread)
    }

    /// The changes that remove one credential; empty if there is none with that identifier.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        guard let place = partition(request.sharingGroup).credential(withID: request.id.lowercased()) else { return [] }
        return [remove(place.kind, place.key, account: place.account, request.sharingGroup)]
    }

    /// The number of credentials that are examined for a page.
    fileprivate static let examinedCredentials = 500

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

/// The position at which a list of credentials continues: after one of an account's.
private struct CredentialListPosition {
    let account: String
    private let id: String

    /// Reads the `next` of a reply.
    init(_ text: String) {
        // No identifier has a line break.
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        account = parts[0]
        id = parts.count > 1 ? parts[1] : ""
    }

    static func after(_ id: String, of account: AccountKey) -> String { "\(account.key)\n\(id)" }

    /// Whether a credential is still to be listed.
    func isBefore(_ id: String, of account: AccountKey) -> Bool {
        !account.key.hasSameBytes(as: self.account) || self.id.precedes(id)
    }
}

/// A page of credentials, filled up to the size of one reply.
private struct CredentialPage {
    let withoutSecrets: Bool
    private(set) var reply = ListCredentials.Reply(credentials: [])
    private var last: String?
    private var size = 0
    private var examined = 0

    init(withoutSecrets: Bool) { self.withoutSecrets = withoutSecrets }

    /// Adds a credential.
    ///
    /// - Parameter credential: nil for one that is not listed.
    /// - Returns: whether the page had room for it.
    mutating func add(_ credential: Credential?, _ id: String, of account: AccountKey) -> Bool {
        var credential = credential
        if withoutSecrets {
            credential?.accessToken = nil
            credential?.idToken = nil
        }
        size += credential?.approximateSize ?? 0
        let isFull = size > CredentialCache.pageBytes || reply.credentials.count == CredentialCache.pageItems
        guard reply.credentials.isEmpty || !isFull, examined < CredentialCache.examinedCredentials else {
            reply.next = last
            return false
        }
        if let credential { reply.credentials.append(credential) }
        last = CredentialListPosition.after(id, of: account)
        examined += 1
        return true
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

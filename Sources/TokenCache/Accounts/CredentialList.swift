package import TokenModel
internal import TokenStore

extension CredentialCache {
    /// The credentials of a sharing group, a page at a time, in the order of the accounts and of their identifiers.
    ///
    /// A page is also complete when a limited number of accounts or of credentials has been examined, so that it may have no credential
    /// and be followed by others.
    ///
    /// - Parameters:
    ///   - localScheme: the URL scheme of authorities on this machine, `http` or `https`; others have `https`.
    ///   - tokens: gets the tokens that have to be read from the store first; the page is of no use then.
    package func credentials(
        _ request: ListCredentials, localScheme: String, _ tokens: inout ListedTokens
    ) -> ListCredentials.Reply {
        let partition = partition(request.sharingGroup)
        let start = request.after.map(CredentialListPosition.init)
        var page = CredentialPage()
        partition.order.forEach(from: start?.account) { _, key in
            if let start, start.isAfter(key) { return true }
            guard page.hasRoomForAccount else {
                page.end()
                return false
            }
            // An account without credentials is not unpacked.
            if partition.hasCredentials(key) {
                var account = ListedAccount(key, partition[key], request)
                let isWhole = account.held.forEachCredential(of: key, after: start?.id(in: key)) { id, place in
                    let listed = credential(id, place, of: &account, localScheme: localScheme, tokens)
                    guard page.add(listed, id, of: key) else { return false }
                    listed?.unread.forEach { tokens.show($0) }
                    return true
                }
                guard isWhole else { return false }
            }
            page.endAccount(key)
            return true
        }
        return page.reply
    }

    /// The changes that remove one credential; empty if there is none with that identifier.
    package func changes(removing request: RemoveCredential) -> [CacheChange] {
        guard let place = partition(request.sharingGroup).credential(withID: request.id.lowercased()) else { return [] }
        return [remove(place.kind, place.key, account: place.account, request.sharingGroup)]
    }

    /// The account of the credential that a request removes; nil if there is no such credential.
    package func account(removedBy request: RemoveCredential) -> AccountReference? {
        let partition = partition(request.sharingGroup)
        guard let place = partition.credential(withID: request.id.lowercased()) else { return nil }
        return AccountReference(
            homeAccountID: place.account.homeAccountID,
            username: username(of: place.account, in: request.sharingGroup) ?? place.account.name)
    }

    /// The number of credentials that are examined for a page.
    fileprivate static let examinedCredentials = 500

    /// The credential at a place; nil for an access token of another version than the requested one.
    private func credential(
        _ id: String, _ place: CredentialPlace, of account: inout ListedAccount, localScheme: String,
        _ tokens: ListedTokens
    ) -> ListedCredential? {
        if place.kind == .refreshToken, let token = account.held.refreshTokens[place.key] {
            var listed = ListedCredential(
                Credential(
                    id: id, kind: .refreshToken, clientID: token.clientID, familyID: token.familyID,
                    authority: url(token.environment, Self.realm(of: token), localScheme),
                    scopes: token.restriction?.scopes ?? ScopeSet([]), account: account.reference))
            if account.showsSecrets { listed.show(account.idToken(with: token), tokens) }
            return listed
        }
        guard let token = account.held.accessTokens[place.key], account.version ?? token.version == token.version
        else { return nil }
        var listed = ListedCredential(
            Credential(
                id: id, kind: .accessToken, clientID: token.clientID,
                authority: url(token.environment, token.realm, localScheme), version: token.version,
                scopes: token.scopes, tokenType: token.tokenType, expiresOn: token.expiresOn,
                extendedExpiresOn: token.extendedExpiresOn, account: account.reference))
        if account.showsSecrets {
            listed.show(token, tokens)
            listed.show(account.held.idToken(like: token, clouds), tokens)
        }
        return listed
    }

    /// The realm of a refresh token's authority. Only Entra has `common`; at B2C and External ID, access tokens have the home tenant, too.
    private static func realm(of token: RefreshTokenRecord) -> String {
        if let restriction = token.restriction { return restriction.realm }
        return switch token.binding?.kind {
        case .adfs: "adfs"
        case .b2c, .ciam: token.account.homeAccountID?.tenantID ?? "common"
        case .entra, .openID, nil: "common"
        }
    }

    private func url(_ environment: String, _ realm: String, _ localScheme: String) -> String {
        let authority = Authority.common.withEnvironment(environment).withRealm(realm)
        return authority.isLoopback ? "\(localScheme)://\(environment)/\(authority.path)" : authority.url
    }
}

/// The position at which a list of credentials continues: after one of an account's, or after all of them.
///
/// Its text is no longer than that of an identifier: the account's key, and after a line break, which no identifier has, the rest of the
/// identifier, which usually begins with that key and a hyphen. Another identifier is whole, after two line breaks.
struct CredentialListPosition {
    let account: String
    /// The last credential that was listed; nil if all were.
    private let id: String?

    /// Reads the `next` of a reply.
    init(_ text: String) {
        let parts = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        account = parts[0]
        id =
            switch parts.count {
            case 1: nil
            case 2: "\(parts[0])-\(parts[1])"
            default: parts[2]
            }
    }

    /// The `next` of a reply.
    ///
    /// - Parameter id: the identifier of the reply's last credential; nil if all of the account's have been listed.
    static func after(_ id: String?, of account: AccountKey) -> String {
        let account = account.key
        guard let id else { return account }
        let start = "\(account)-"
        guard id.utf8.starts(with: start.utf8) else { return "\(account)\n\n\(id)" }
        return "\(account)\n\(Substring(id.utf8.dropFirst(start.utf8.count)))"
    }

    /// Whether all credentials of an account have been listed.
    func isAfter(_ account: AccountKey) -> Bool { id == nil && account.key.hasSameBytes(as: self.account) }

    /// The last credential of an account that was listed; nil if none was.
    func id(in account: AccountKey) -> String? { account.key.hasSameBytes(as: self.account) ? id : nil }
}

/// A page of credentials, filled up to the size of one reply.
private struct CredentialPage {
    private(set) var reply = ListCredentials.Reply(credentials: [])
    private var last: (account: AccountKey, id: String?)?
    private var size = 0
    /// The number of credentials on the page, with those that the store has lost.
    private var count = 0
    private var examinedCredentials = 0
    private var examinedAccounts = 0

    var hasRoomForAccount: Bool { examinedAccounts < CredentialCache.examinedAccounts }

    /// Notes that all credentials of an account have been examined.
    mutating func endAccount(_ account: AccountKey) {
        examinedAccounts += 1
        last = (account, nil)
    }

    /// Ends the page before the end of the list.
    mutating func end() { reply.next = last.map { CredentialListPosition.after($0.id, of: $0.account) } }

    /// Adds a credential.
    ///
    /// - Parameter listed: nil for one that is not listed.
    /// - Returns: whether the page had room for it.
    mutating func add(_ listed: ListedCredential?, _ id: String, of account: AccountKey) -> Bool {
        size += listed?.credential.approximateSize ?? 0
        let isFull = size > CredentialCache.pageBytes || count == CredentialCache.pageItems
        guard count == 0 || !isFull, examinedCredentials < CredentialCache.examinedCredentials else {
            end()
            return false
        }
        if let listed {
            count += 1
            if !listed.isLost { reply.credentials.append(listed.credential) }
        }
        last = (account, id)
        examinedCredentials += 1
        return true
    }
}

/// An account whose credentials are being listed.
private struct ListedAccount {
    let held: AccountCredentials
    let reference: AccountReference
    let version: OAuthVersion?
    let showsSecrets: Bool
    /// The preferred ID tokens, once a refresh token is listed: of each app, by `ClientID.key`, and of all apps.
    private var idTokens: (byApp: [String: IDTokenRecord], first: IDTokenRecord?)?

    init(_ key: AccountKey, _ held: AccountCredentials, _ request: ListCredentials) {
        self.held = held
        version = request.version
        showsSecrets = !request.withoutSecrets
        reference = AccountReference(
            homeAccountID: key.homeAccountID,
            username: held.orderedAccounts.first?.username.trimmedNonEmpty ?? key.name?.trimmedNonEmpty)
    }

    /// The ID token that most likely came with a refresh token: the app's own before any other, v1 before v2.
    mutating func idToken(with token: RefreshTokenRecord) -> IDTokenRecord? {
        let known = idTokens ?? preferredIDTokens
        idTokens = known
        return known.byApp[token.clientID.key] ?? known.first
    }

    private var preferredIDTokens: (byApp: [String: IDTokenRecord], first: IDTokenRecord?) {
        var preferred: (byApp: [String: IDTokenRecord], first: IDTokenRecord?) = ([:], nil)
        let sorted = held.idTokens.sorted {
            $0.value.version == $1.value.version
                ? $0.key.precedes($1.key) : $0.value.version.rawValue < $1.value.version.rawValue
        }
        for (_, token) in sorted where preferred.byApp[token.clientID.key] == nil {
            preferred.byApp[token.clientID.key] = token
        }
        preferred.first = sorted.first?.value
        return preferred
    }
}

/// A credential that is to be listed.
private struct ListedCredential {
    private(set) var credential: Credential
    /// Whether the store has lost the access token, so that the credential does not exist any more.
    private(set) var isLost = false
    /// The records whose tokens it shows and that are in the store only.
    private(set) var unread: [CacheRecord] = []

    init(_ credential: Credential) { self.credential = credential }

    mutating func show(_ token: AccessTokenRecord, _ tokens: ListedTokens) {
        let completed = tokens.completed(token)
        credential.accessToken = completed?.secret
        isLost = completed == nil
        if completed?.secret.isUnread == true { unread.append(.accessToken(token)) }
    }

    mutating func show(_ idToken: IDTokenRecord?, _ tokens: ListedTokens) {
        let completed = idToken.flatMap(tokens.completed)
        credential.idToken = completed?.idToken
        if let completed, completed.isUnread { unread.append(.idToken(completed)) }
    }
}

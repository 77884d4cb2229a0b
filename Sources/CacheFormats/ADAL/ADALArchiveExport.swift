internal import TokenCache
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes a sharing group's credentials in the format in which ADAL 2.7 for macOS serializes its cache.
///
/// The archive holds v1 access tokens and every refresh token, which serves both libraries. ADAL does not use MSAL's access tokens.
struct ADALArchiveExport {
    /// The key by which ADAL finds an item.
    struct Key {
        var authority: String
        var resource: String?
        var clientID: String

        /// The name of ADAL's keychain item for the token.
        var service: String {
            func encoded(_ text: String) -> String { Base64URL.encode(Data(text.utf8)) }
            let resource = resource.map(encoded) ?? ADALArchiveExport.noResource
            return "MSOpenTech.ADAL.1|\(encoded(authority))|\(resource)|\(encoded(clientID))"
        }
    }

    private let partition: Partition
    private let clouds: CloudDirectory
    private let now: Int64
    /// The accounts of each username, in lower case and in the order of the names; an AD FS user without one has the empty name.
    private let accounts: [(user: String, accounts: [AccountKey])]
    private var archive = KeyedArchiveWriter()
    /// The index of the next user; after the last one the enclosing dictionaries are written.
    private var index = 0
    /// The dictionaries of the users that have been written.
    private var tokens: [(key: Int, value: Int)] = []
    /// The items of the user that is being written, by the names of their keychain items.
    private var items: [String: (key: Key, account: AccountKey, item: ADALEntry)] = [:]

    init(_ partition: Partition, clouds: CloudDirectory, now: Int64) {
        self.partition = partition
        self.clouds = clouds
        self.now = now
        var users: [ExactText: [AccountKey]] = [:]
        for account in partition.accountKeys {
            users[ExactText(account.name ?? partition[account].adalUserID), default: []].append(account)
        }
        accounts = users.sorted { $0.key.text.precedes($1.key.text) }.map { user, accounts in
            (user.text, accounts.sorted { $0.key.precedes($1.key) })
        }
    }

    /// The next piece; nil at the end. Items are in a fixed order: the same cache gives the same bytes.
    mutating func next() -> [UInt8]? {
        while index <= accounts.count {
            if index < accounts.count { addUser(accounts[index].user, accounts[index].accounts) } else { finish() }
            index += 1
            let bytes = archive.drain()
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }

    private mutating func addUser(_ user: String, _ accounts: [AccountKey]) {
        items = [:]
        for account in accounts { add(partition[account], of: account) }
        guard !items.isEmpty else { return }
        let pairs = items.sorted { $0.key < $1.key }.map(\.value).map { key, _, item in
            (key: Self.add(key, to: &archive), value: Self.add(item, to: &archive))
        }
        tokens.append((key: archive.add(user), value: archive.add(dictionary: pairs, isMutable: true)))
        archive.forgetLongTexts()
    }

    private mutating func finish() {
        let list = archive.add(dictionary: tokens, isMutable: true)
        let cache = archive.add(dictionary: [(key: archive.add("tokens"), value: list)], isMutable: true)
        let root = archive.add(
            dictionary: [
                (key: archive.add("version"), value: archive.add(ADALArchive.version)),
                (key: archive.add("tokenCache"), value: cache),
            ], isMutable: false)
        archive.finish(root: root)
    }

    private mutating func add(_ credentials: AccountCredentials, of account: AccountKey) {
        for token in credentials.accessTokens.values where token.version == .v1 && token.isExportable(at: now) {
            guard let resource = token.scopes.resource else { continue }
            let idToken = credentials.idToken(like: token, clouds)?.idToken
            let family = familyID(of: token.clientID, at: token.environment, credentials)
            change(account, Self.url(token.environment, token.realm), resource, token.clientID.text, idToken) {
                $0.accessToken = token.secret.reveal()
                $0.tokenType = token.tokenType
                $0.expiresOn = token.expiresOn
                $0.extendedExpiresOn = token.extendedExpiresOn
                $0.obtainedOn = token.cachedAt
                $0.familyID = family
            }
        }
        for token in credentials.refreshTokens.values.sorted(by: {
            ($0.obtainedOn ?? 0, $0.key) < ($1.obtainedOn ?? 0, $1.key)
        }) {
            add(token, credentials, account)
        }
    }

    private mutating func add(_ token: RefreshTokenRecord, _ credentials: AccountCredentials, _ account: AccountKey) {
        let idToken = credentials.idTokens.values.filter { $0.clientID == token.clientID }
            .min { ($0.version.rawValue, $0.key) < ($1.version.rawValue, $1.key) }?.idToken
        if let restriction = token.restriction {
            guard let resource = restriction.scopes.resource else { return }
            let authority = Self.url(token.environment, restriction.realm)
            return change(account, authority, resource, token.clientID.text, idToken) {
                $0.refreshToken = token.secret.reveal()
                $0.obtainedOn = $0.obtainedOn ?? token.obtainedOn
            }
        }
        let clientID = (token.familyID?.clientID ?? token.clientID).text
        let family = token.familyID?.text ?? familyID(of: token.clientID, at: token.environment, credentials)
        for realm in credentials.realms(of: token, clouds) {
            change(account, Self.url(token.environment, realm), nil, clientID, idToken) {
                $0.refreshToken = token.secret.reveal()
                $0.obtainedOn = token.obtainedOn
                $0.familyID = family
            }
        }
    }

    /// The family that an app belongs to: by its metadata, or else by its refresh tokens. The family's refresh token is that of the app that
    /// got it last, or of none.
    private func familyID(
        of clientID: ClientID, at environment: String, _ credentials: AccountCredentials
    ) -> String? {
        let reported = clouds.cacheAliases(of: environment).lazy
            .compactMap { partition.apps[AppMetadataRecord.key(clientID.key, at: $0)]?.familyID }.first { !$0.isEmpty }
        return reported ?? credentials.familyID(of: clientID)
    }

    private mutating func change(
        _ account: AccountKey, _ authority: String, _ resource: String?, _ clientID: String,
        _ idToken: String?, _ body: (inout ADALEntry) -> Void
    ) {
        let key = Key(authority: authority, resource: resource?.lowercased(), clientID: clientID.lowercased())
        let service = key.service
        var item = ADALEntry()
        item.authority = authority
        item.resource = resource
        item.clientID = clientID
        item.homeAccountID = account.homeAccountID
        if let other = items[service] {
            if other.account == account { item = other.item } else if !isAhead(account, of: other.account) { return }
        }
        item.idToken = item.idToken ?? idToken
        body(&item)
        items[service] = (key, account, item)
    }

    /// Whether an account comes before another one with its username, of which ADAL knows one only: ADAL has no personal accounts, and of
    /// a tenant's users with one name the one is meant who got a token last.
    private func isAhead(_ account: AccountKey, of other: AccountKey) -> Bool {
        guard account.isPersonal == other.isPersonal else { return other.isPersonal }
        return partition[account].lastObtained > partition[other].lastObtained
    }

    private static func url(_ environment: String, _ realm: String) -> String { "https://\(environment)/\(realm)" }

    private static func add(_ key: Key, to archive: inout KeyedArchiveWriter) -> Int {
        let null = KeyedArchiveWriter.null
        let members = [
            (name: "authority", value: archive.add(key.authority)),
            (name: "resource", value: archive.add(key.resource)),
            (name: "clientId", value: archive.add(key.clientID)), (name: "userId", value: null),
            (name: "service", value: archive.add(key.service)), (name: "account", value: null),
            (name: "type", value: null),
        ]
        return archive.add("ADTokenCacheKey", members)
    }

    private static func add(_ item: ADALEntry, to archive: inout KeyedArchiveWriter) -> Int {
        let userInformation = archive.add("ADUserInformation", [(name: "rawIdToken", value: archive.add(item.idToken))])
        let texts = [
            ("authority", item.authority), ("resource", item.resource), ("clientId", item.clientID),
            ("familyId", item.familyID), ("accessToken", item.accessToken),
            ("accessTokenType", item.tokenType ?? "Bearer"), ("refreshToken", item.refreshToken),
            ("homeAccountId", item.homeAccountID?.text),
        ]
        var members = texts.map { (name: $0.0, value: archive.add($0.1)) }
        members.append((name: "expiresOn", value: archive.add(moment: item.expiresOn)))
        members.append((name: "cachedAt", value: archive.add(moment: item.obtainedOn)))
        members.append((name: "userInformation", value: userInformation))
        members.append((name: "additionalClient", value: archive.add(dictionary: [], isMutable: true)))
        let extended = item.extendedExpiresOn.map {
            (key: archive.add(ADALArchive.extendedExpiresOn), value: archive.add(moment: $0))
        }
        let server = archive.add(dictionary: extended.map { [$0] } ?? [], isMutable: false)
        members.append((name: "additionalServer", value: server))
        return archive.add("ADTokenCacheStoreItem", members)
    }

    /// The resource of a token that serves every resource, in the names of ADAL's keychain items.
    private static let noResource = "CC3513A0-0E69-4B4D-97FC-DFB6C91EE132"
}

extension AccountCredentials {
    /// The family that the app belongs to, by its refresh tokens.
    fileprivate func familyID(of clientID: ClientID) -> String? {
        refreshTokens.values.first { $0.clientID == clientID && $0.familyID != nil }?.familyID?.text
    }

    /// The realms in which ADAL looks for a refresh token: ADAL 2.7 also in `common`, older versions only where it was obtained.
    fileprivate func realms(of token: RefreshTokenRecord, _ clouds: CloudDirectory) -> [String] {
        let isADFS = accounts.values.contains {
            $0.authorityType == AccountRecord.adfsType && clouds.sameCloud($0.environment, token.environment)
        }
        let used = accessTokens.values.filter {
            $0.version == .v1 && clouds.sameCloud($0.environment, token.environment)
                && ($0.clientID == token.clientID || token.familyID != nil)
        }
        return Set(used.map(\.realm)).union([isADFS ? "adfs" : "common"]).sorted()
    }
}

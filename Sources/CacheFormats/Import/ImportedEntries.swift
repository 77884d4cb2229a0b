internal import TokenCache
internal import TokenModel

// Facts about a file as a whole that the merge of its entries needs.

extension ForeignCache.Entry {
    var isAccount: Bool { if case .account = record { true } else { false } }

    /// First accounts with an identifier, then repetitions of a token under the requested realm, then accounts known by their username
    /// only, or whose tenant is not known, which may be the same as the first ones.
    private var rank: Int {
        if requestedRealm != nil { 1 } else { record.header.account?.homeAccountID == nil || mayBeOfAnyTenant ? 2 : 0 }
    }

    /// The pass in which a credential is merged. An old name comes after all others.
    var pass: Int { hasOldName ? rank + 3 : rank }

    static let passes = 6

    /// Whether this is the entry of an account whose tenant is unknown: its realm names none, such as `common`, and no ID token of the file
    /// names it, since the app that requested the realm may have signed out.
    var mayBeOfAnyTenant: Bool {
        guard isUnified, requestedRealm == nil, case .account(let account) = record else { return false }
        return account.authorityType == AccountRecord.entraType && account.localAccountID != nil
            && !account.hasTenantID
    }

    /// The order in which entries of accounts are merged: independent of the file's order, and of their names, for entries of one account.
    /// An old name comes after another one of the same entry only, since an export gives each entry its new name.
    ///
    /// - Parameter index: the entry's position in the file.
    func accountOrder(_ index: Int) -> (Int, String, String, Int, Int) {
        guard case .account(let account) = record else { return (rank, "", "", 0, index) }
        return (rank, requestedRealm ?? account.realm, account.environment, hasOldName ? 1 : 0, index)
    }
}

extension ForeignCache {
    /// The positions of the accounts among the entries, in the order in which they are merged.
    var accountsInOrder: [Int] {
        entries.indices.filter { entries[$0].isAccount }.map { (index: $0, order: entries[$0].accountOrder($0)) }
            .sorted { $0.order < $1.order }.map(\.index)
    }

    /// The positions of all other entries, pass by pass.
    var credentialsInOrder: [Int] {
        var passes = [[Int]](repeating: [], count: Entry.passes)
        for index in entries.indices where !entries[index].isAccount { passes[entries[index].pass].append(index) }
        return passes.flatMap(\.self)
    }
}

/// The users in tenants' directories that a file names for its accounts without an identifier.
struct ImportedUsers {
    private struct Place: Hashable {
        var environment: String
        var user: ForeignCache.DirectoryUser
    }

    private var users: [String: [Place]] = [:]

    init(_ foreign: ForeignCache) {
        // Each user once: a file of ADAL describes the user in each of its tokens.
        var known: [String: Set<Place>] = [:]
        for entry in foreign.entries {
            guard case .account(let account) = entry.record, let name = account.account.name, let user = entry.user
            else { continue }
            let place = Place(environment: account.environment, user: user)
            if known[name, default: []].insert(place).inserted { users[name, default: []].append(place) }
        }
    }

    /// The users with a username in one cloud.
    func named(_ name: String, at environment: String?, _ clouds: CloudDirectory) -> [ForeignCache.DirectoryUser] {
        guard let environment else { return [] }
        return (users[name] ?? []).filter { clouds.sameCloud($0.environment, environment) }.map(\.user)
    }
}

/// The times at which a file's refresh tokens were obtained. A refresh token is issued with an access token, which has a time
/// more often.
struct RefreshTokenAges {
    private struct Pair: Hashable {
        var account: AccountKey
        var clientID: ClientID
    }

    private var obtained: [Pair: Int64] = [:]
    private let now: Int64

    /// - Parameter identify: returns the key of an account in the cache.
    init(_ foreign: ForeignCache, _ identify: (ForeignCache.Holder) -> AccountKey) {
        now = foreign.now
        for (holder, time) in foreign.obtained {
            let pair = Pair(account: identify(holder), clientID: holder.clientID)
            obtained[pair] = max(obtained[pair] ?? 0, time)
        }
    }

    /// The token with its time, if that is known.
    func dated(_ token: RefreshTokenRecord) -> RefreshTokenRecord {
        var token = token
        // A time in the future would make the token the newest in every later comparison.
        if let time = token.obtainedOn, time > now || time <= 0 { token.obtainedOn = nil }
        token.obtainedOn = token.obtainedOn ?? obtained[Pair(account: token.account, clientID: token.clientID)]
        return token
    }
}

/// The scope within which one refresh token is kept: an app or a family, one cloud, and every resource or one of them.
struct RefreshTokenScope: Hashable {
    private let account: AccountKey
    private let holder: ExactText
    private let isFamilyToken: Bool
    private let realm: ExactText?
    private let scopes: ScopeSet?
    private let cloud: String

    init(_ token: RefreshTokenRecord, _ clouds: CloudDirectory) {
        account = token.account
        let app = token.account.issuer.appKey(of: token.clientID, realm: token.restriction?.realm ?? "")
        holder = ExactText(token.familyID?.text ?? app)
        isFamilyToken = token.familyID != nil
        realm = token.restriction.map { ExactText($0.realm) }
        scopes = token.restriction?.scopes
        cloud = clouds.cloud(of: token.environment).preferredCache
    }
}

extension CacheRecord {
    /// The record's title in a report: short, on one line, without a secret.
    func title(user: String?) -> String {
        let account = header.account
        let user = user ?? account?.homeAccountID?.text ?? account?.name
        switch self {
        case .account(let record): return ForeignCache.title("account", user, nil, record.realm)
        case .accessToken(let token):
            return ForeignCache.title(
                "access token", user, token.clientID.text, token.scopes.resource ?? token.scopes.target)
        case .refreshToken(let token):
            return ForeignCache.title("refresh token", user, token.clientID.text, token.restriction?.scopes.target)
        case .idToken(let token): return ForeignCache.title("ID token", user, token.clientID.text)
        case .appMetadata(let app): return ForeignCache.title("app metadata", nil, app.clientID)
        case .accountMetadata(let metadata): return ForeignCache.title("account metadata", user, metadata.clientID)
        case .currentAccount, .opaque: return ForeignCache.title("entry", nil, nil)
        }
    }
}

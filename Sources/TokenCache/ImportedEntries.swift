internal import TokenModel

/// What an import has to know of a file as a whole.
extension ForeignCache.Entry {
    var isAccount: Bool { if case .account = record { true } else { false } }

    /// When it is held against the cache. What is known by name alone may turn out to be an account that comes with its
    /// identifier; and a token may stand twice, once under the realm that it was asked of.
    var rank: Int {
        if askedRealm != nil { return 1 }
        return record.owner?.homeAccountID == nil ? 2 : 0
    }

    /// Of several entries that are one account the same comes first, whatever the file's order.
    ///
    /// - Parameter index: where the entry is among the file's.
    func accountOrder(_ index: Int) -> (Int, String, String, Int) {
        guard case .account(let account) = record else { return (rank, "", "", index) }
        return (rank, askedRealm ?? account.realm, account.environment, index)
    }
}

extension ForeignCache {
    /// Where the accounts are among the entries, in the order in which they are taken.
    var accountsInOrder: [Int] {
        entries.indices.filter { entries[$0].isAccount }
            .sorted { entries[$0].accountOrder($0) < entries[$1].accountOrder($1) }
    }
}

/// The people in tenants' directories that a file's accounts without an identifier are.
struct ImportedPeople {
    private var people: [String: [(environment: String, person: ForeignCache.Person)]] = [:]

    init(_ foreign: ForeignCache) {
        for entry in foreign.entries {
            guard case .account(let account) = entry.record, case .name(let name) = account.owner,
                let person = entry.person
            else { continue }
            people[name, default: []].append((account.environment, person))
        }
    }

    /// Those of a name in one cloud.
    func named(_ name: String, at environment: String?, _ clouds: CloudDirectory) -> [ForeignCache.Person] {
        guard let environment else { return [] }
        return (people[name] ?? []).filter { clouds.sameCloud($0.environment, environment) }.map(\.person)
    }
}

/// When a file's refresh tokens were obtained. One comes with an access token, whose time is written down more often than
/// its own.
struct RefreshTokenAges {
    private struct Pair: Hashable {
        var owner: OwnerID
        var clientID: ClientID
    }

    private var obtained: [Pair: Int64] = [:]
    private let now: Int64

    /// - Parameter identify: who an account is in the cache.
    init(_ foreign: ForeignCache, _ identify: (ForeignCache.Holder) -> OwnerID) {
        now = foreign.now
        for (holder, time) in foreign.obtained {
            let pair = Pair(owner: identify(holder), clientID: holder.clientID)
            obtained[pair] = max(obtained[pair] ?? 0, time)
        }
    }

    /// The token with what is known of its age.
    func dated(_ token: RefreshTokenRecord) -> RefreshTokenRecord {
        var token = token
        // A time in the future would win for ever.
        if let time = token.obtainedOn, time > now || time <= 0 { token.obtainedOn = nil }
        token.obtainedOn = token.obtainedOn ?? obtained[Pair(owner: token.owner, clientID: token.clientID)]
        return token
    }
}

/// What only one refresh token is kept for: an app or a family, in one cloud, for everything or for one resource.
struct RefreshTokenPlace: Hashable {
    private let owner: OwnerID
    private let holder: String
    private let isFamilys: Bool
    private let realm: String?
    private let scopes: ScopeSet?
    private let cloud: String

    init(_ token: RefreshTokenRecord, _ clouds: CloudDirectory) {
        owner = token.owner
        holder = token.familyID?.text ?? token.clientID.key
        isFamilys = token.familyID != nil
        realm = token.only?.realm
        scopes = token.only?.scopes
        cloud = clouds.cloud(of: token.environment).preferredCache
    }
}

extension CacheRecord {
    /// What a report calls it: short, on one line, without a secret.
    func title(user: String?) -> String {
        let user = user ?? owner?.homeAccountID?.text ?? owner?.name
        switch self {
        case .account(let record): return ForeignCache.title("account", user, nil, record.realm)
        case .accessToken(let token):
            return ForeignCache.title(
                "access token", user, token.clientID.text, token.scopes.resource ?? token.scopes.target)
        case .refreshToken(let token):
            return ForeignCache.title("refresh token", user, token.clientID.text, token.only?.scopes.target)
        case .idToken(let token): return ForeignCache.title("ID token", user, token.clientID.text)
        case .appMetadata(let app): return ForeignCache.title("app metadata", nil, app.clientID)
        case .accountMetadata(let metadata): return ForeignCache.title("account metadata", user, metadata.clientID)
        case .principal, .carried: return ForeignCache.title("entry", nil, nil)
        }
    }
}

extension AccountRecord {
    /// Whether it is exported as an entry of this realm and environment. What the agent saved itself goes by any of its cloud's
    /// names.
    func isWritten(under realm: String, _ environment: String) -> Bool {
        let written = UnifiedItem(self, as: foreign)
        guard (written.text("realm")?.lowercased() ?? self.realm) == realm else { return false }
        return foreign == nil || written.text("environment")?.lowercased() == environment
    }
}

extension AppMetadataRecord {
    /// Whether it is exported as an entry of this environment.
    func isWritten(under environment: String) -> Bool {
        foreign == nil || UnifiedItem(self, as: foreign).text("environment")?.lowercased() == environment
    }
}

internal import TokenModel

/// An order of an account's records of one kind, in which a request finds what it needs without examining all of them.
protocol RecordIndex: Sendable, Equatable {
    associatedtype Record

    init()
    /// - Parameter key: the record's key among the records of the account.
    mutating func insert(_ record: Record, _ key: String)
    mutating func remove(_ record: Record, _ key: String)
}

/// An index that exists only while an account has more than a few records of the kind. Most accounts have one or two,
/// which are examined faster than an index is searched, and need no memory for it.
struct IndexOfMany<Index: RecordIndex>: Sendable, Equatable {
    /// The index; nil while there are few records.
    private(set) var index: Index?

    /// Updates the index after a record was added, replaced or removed.
    ///
    /// - Parameter records: all records of the kind, after the change.
    mutating func replace(
        _ old: Index.Record?, with new: Index.Record?, _ key: String, among records: RecordMap<Index.Record>
    ) {
        guard records.count > recordsExamined else { return index = nil }
        guard index != nil else {
            var built = Index()
            for (key, record) in records { built.insert(record, key) }
            return index = built
        }
        if let old { index?.remove(old, key) }
        if let new { index?.insert(new, key) }
    }
}

/// The number of records of a kind and an account that are examined one by one.
let recordsExamined = 8

/// The values that the access tokens or ID tokens for the same requests have in common.
struct TokenSeries: Sendable, Hashable {
    /// See `Issuer.appKey`.
    var clientID: String
    var realm: String
    var version: OAuthVersion

    /// Equal if the bytes of the texts are.
    static func == (left: TokenSeries, right: TokenSeries) -> Bool {
        left.version == right.version && left.clientID.hasSameBytes(as: right.clientID)
            && left.realm.hasSameBytes(as: right.realm)
    }

    func hash(into hasher: inout Hasher) {
        clientID.hashBytes(into: &hasher)
        realm.hashBytes(into: &hasher)
        hasher.combine(version)
    }
}

extension AccessTokenRecord {
    var series: TokenSeries {
        TokenSeries(clientID: account.issuer.appKey(of: clientID, realm: realm), realm: realm, version: version)
    }
}

extension IDTokenRecord {
    var series: TokenSeries {
        TokenSeries(clientID: account.issuer.appKey(of: clientID, realm: realm), realm: realm, version: version)
    }
}

/// The ID tokens of an account: the key of each by what it has in common with its access token, and by its host.
struct IDTokenIndex: RecordIndex {
    private var keys: [TokenSeries: RecordMap<String>] = [:]
    private var v1Tokens = 0

    /// Whether there is a token that an app got by ADAL.
    var hasV1Tokens: Bool { v1Tokens > 0 }

    mutating func insert(_ token: IDTokenRecord, _ key: String) {
        keys[token.series, default: RecordMap()][token.environment] = key
        if token.version == .v1 { v1Tokens += 1 }
    }

    mutating func remove(_ token: IDTokenRecord, _ key: String) {
        if token.version == .v1 { v1Tokens -= 1 }
        keys[token.series]?[token.environment] = nil
        if keys[token.series]?.isEmpty == true { keys[token.series] = nil }
    }

    /// The keys of the tokens of a series, by their hosts, which are few: the names of one cloud.
    func keys(of series: TokenSeries) -> RecordMap<String> { keys[series] ?? RecordMap() }
}

/// The refresh tokens of an account: the keys of those that an app or a family of apps has for a target.
struct RefreshTokenIndex: RecordIndex {
    /// Who may redeem tokens, and for what.
    private struct Place: Sendable, Hashable {
        var app: ExactText?
        var family: FamilyID?
        /// The scopes that a token is restricted to; empty if it is not.
        var target: ExactText
    }

    private var keys: [Place: Set<ExactText>] = [:]

    mutating func insert(_ token: RefreshTokenRecord, _ key: String) {
        keys[Self.place(of: token), default: []].insert(ExactText(key))
    }

    mutating func remove(_ token: RefreshTokenRecord, _ key: String) {
        let place = Self.place(of: token)
        keys[place]?.remove(ExactText(key))
        if keys[place]?.isEmpty == true { keys[place] = nil }
    }

    /// The keys of the tokens that an app has for these scopes or for any, and, if it is in a family, of the family's tokens.
    func keys(of clientID: ClientID, _ family: FamilyID?, for scopes: ScopeSet) -> [String] {
        let target = scopes.canonicalTarget
        let targets = target.isEmpty ? [""] : ["", target]
        return targets.map(ExactText.init).flatMap { target -> [String] in
            var found = keys[Place(app: ExactText(clientID.key), family: nil, target: target)] ?? []
            if let family { found.formUnion(keys[Place(app: nil, family: family, target: target)] ?? []) }
            return found.map(\.text)
        }
    }

    private static func place(of token: RefreshTokenRecord) -> Place {
        Place(
            app: token.familyID == nil ? ExactText(token.clientID.key) : nil, family: token.familyID,
            target: ExactText(token.restriction?.scopes.canonicalTarget ?? ""))
    }
}

internal import TokenModel

/// The access tokens of an account, in an order in which a request finds its token by comparing few of them, however many there are.
///
/// A request names app, realm and version exactly; the tokens that have these are a series. Within a series, the tokens of one host
/// are listed in the order in which they are preferred: all of them together, and those of each scope.
struct AccessTokenIndex: RecordIndex {
    /// The properties of a token that are compared in a search.
    struct Entry: Sendable, Equatable {
        var expiresOn: Int64
        /// The token's key among the records of the account.
        var key: String
        var scopes: ScopeSet

        /// Whether the token is preferred to another one of its host: it expires later, or else has the greater key.
        func isPreferred(to other: Entry) -> Bool {
            expiresOn == other.expiresOn ? other.key.precedes(key) : expiresOn > other.expiresOn
        }
    }

    /// The tokens of a series that were saved under one host.
    struct HostTokens: Sendable, Equatable {
        /// The preferred ones first.
        private(set) var all: [Entry] = []
        /// The tokens with each scope, in lower case; the preferred ones first.
        private var byScope: [String: [Entry]] = [:]

        /// The first token, in the order of preference, that has every requested scope and meets a further condition. The condition is
        /// checked for the tokens that have the rarest of the scopes, until one meets it.
        func first(with scopes: ScopeSet, where isMatch: (Entry) -> Bool) -> Entry? {
            var candidates = all
            for scope in scopes.keys {
                guard let tokens = byScope[scope] else { return nil }
                if tokens.count < candidates.count { candidates = tokens }
            }
            return candidates.first(where: isMatch)
        }

        fileprivate mutating func insert(_ entry: Entry) {
            Self.insert(entry, into: &all)
            for scope in entry.scopes.keys { Self.insert(entry, into: &byScope[scope, default: []]) }
        }

        fileprivate mutating func remove(_ entry: Entry) {
            Self.remove(entry, from: &all)
            for scope in entry.scopes.keys {
                Self.remove(entry, from: &byScope[scope, default: []])
                if byScope[scope]?.isEmpty == true { byScope[scope] = nil }
            }
        }

        private static func insert(_ entry: Entry, into entries: inout [Entry]) {
            entries.insert(entry, at: position(of: entry, in: entries))
        }

        private static func remove(_ entry: Entry, from entries: inout [Entry]) {
            let position = position(of: entry, in: entries)
            if position < entries.count, entries[position].key.hasSameBytes(as: entry.key) {
                entries.remove(at: position)
            }
        }

        /// The position of the entry, or where to insert it.
        private static func position(of entry: Entry, in entries: [Entry]) -> Int {
            entries.firstSortedIndex { !$0.isPreferred(to: entry) }
        }
    }

    /// The tokens by their series, and then by their host.
    private var tokens: [TokenSeries: [ExactText: HostTokens]] = [:]

    mutating func insert(_ token: AccessTokenRecord, _ key: String) {
        let environment = ExactText(token.environment)
        tokens[token.series, default: [:]][environment, default: HostTokens()].insert(token.entry(key))
    }

    mutating func remove(_ token: AccessTokenRecord, _ key: String) {
        let (series, environment) = (token.series, ExactText(token.environment))
        tokens[series]?[environment]?.remove(token.entry(key))
        if tokens[series]?[environment]?.all.isEmpty == true { tokens[series]?[environment] = nil }
        if tokens[series]?.isEmpty == true { tokens[series] = nil }
    }

    /// The tokens of a series by their hosts. There are few hosts: the names of one cloud.
    func hosts(of series: TokenSeries) -> [ExactText: HostTokens] { tokens[series] ?? [:] }
}

extension AccessTokenRecord {
    /// - Parameter key: the token's key among the records of the account.
    func entry(_ key: String) -> AccessTokenIndex.Entry {
        AccessTokenIndex.Entry(expiresOn: expiresOn, key: key, scopes: scopes)
    }
}

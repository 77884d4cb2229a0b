package import TokenModel

/// What a cache of another library says, before it is held against the agent's own.
package struct ForeignCache: Sendable {
    /// A record, and what a report calls it.
    struct Entry: Sendable {
        var record: CacheRecord
        var title: String
        /// Who it is in a tenant's directory, for an account that is known by its name alone.
        var person: Person?
        /// The realm that it was asked of, where that is not the tenant that issued it.
        var askedRealm: String?
        /// Whether it says which tenant an account is in, as an archive of ADAL need not.
        var knowsTenant = true
        /// An account as the file has it, which may have it several times.
        var original: CarriedRecord?
    }

    /// An account in one tenant's directory.
    struct Person: Sendable, Hashable {
        var tenantID: String
        var objectID: String
    }

    /// Whose refresh token, for which app.
    private struct Holder: Hashable {
        var owner: OwnerID
        var clientID: ClientID
    }

    private(set) var entries: [Entry] = []
    private(set) var skipped: [ImportCache.Skipped] = []
    /// When an app last obtained tokens of an account: what is known of a refresh token's age that does not say it itself.
    private var obtained: [Holder: Int64] = [:]
    /// How many entries there are that have to be held against one another.
    private var crowds: [String: Int] = [:]
    let now: Int64

    /// Reads a cache.
    ///
    /// - Parameters:
    ///   - now: to tell what has expired.
    ///   - timeZone: where ADAL for Python ran, which writes local times.
    /// - Throws: `cacheBadFormat` (-51201) when `bytes` are not such a cache, with what is wrong.
    package init(_ bytes: [UInt8], format: CacheFormat, now: Int64, timeZone: LocalTimeZone) throws(TokenError) {
        self.now = now
        switch format {
        case .msalJSON: try readUnified(try JSONReader.read(bytes))
        case .adalJSON: try readADAL(try JSONReader.read(bytes), timeZone: timeZone)
        case .adalArchive:
            let archive = try ADALArchive(bytes)
            skipped = archive.skipped
            read(archive.entries)
        }
        dateRefreshTokens()
    }

    mutating func skip(_ title: String, _ reason: String) {
        skipped.append(ImportCache.Skipped(entry: title, reason: reason))
    }

    /// Adds a record, unless there is a reason not to.
    mutating func add(
        _ record: CacheRecord, _ title: String, person: Person? = nil, askedRealm: String? = nil,
        original: CarriedRecord? = nil, knowsTenant: Bool = true
    ) {
        guard !record.isMistakable else {
            return skip(title, "its identifier could be taken for another account's")
        }
        guard let record = record.withPossibleTimes else { return skip(title, "its times are none that a clock shows") }
        if case .accessToken(let token) = record {
            note(obtained: token.cachedAt, token.owner, token.clientID)
            guard token.expiresOn > now else { return skip(title, "it has expired") }
            guard token.cachedAt <= now else {
                return skip(title, "it was saved in what is now the future, so that its times mean nothing")
            }
        }
        guard isBearable(record) else {
            return skip(title, "the cache has more than \(Self.mostAlike) entries like it")
        }
        entries.append(
            Entry(
                record: record, title: title, person: person, askedRealm: askedRealm, knowsTenant: knowsTenant,
                original: original))
    }

    /// Whether there are not too many that an import would hold it against: each of them, every time.
    private mutating func isBearable(_ record: CacheRecord) -> Bool {
        var groups: [String] = []
        if let owner = record.owner { groups.append("owner \(owner.key)") }
        if case .account(let account) = record { groups.append("name \(account.username.lowercased())") }
        if case .appMetadata = record { groups.append("apps") }
        for group in groups { crowds[group, default: 0] += 1 }
        return groups.allSatisfy { crowds[$0, default: 0] <= Self.mostAlike }
    }

    /// Far more than one account has, and few enough to compare each with each.
    private static let mostAlike = 2000

    mutating func note(obtained time: Int64?, _ owner: OwnerID, _ clientID: ClientID) {
        guard let time, time > 0, time <= now else { return }
        let holder = Holder(owner: owner, clientID: clientID)
        obtained[holder] = max(obtained[holder] ?? 0, time)
    }

    /// A refresh token comes with an access token, whose time is written down more often than its own.
    private mutating func dateRefreshTokens() {
        for index in entries.indices {
            guard case .refreshToken(var token) = entries[index].record else { continue }
            // A time in the future would win for ever.
            if let time = token.obtainedOn, time > now || time <= 0 { token.obtainedOn = nil }
            token.obtainedOn = token.obtainedOn ?? obtained[Holder(owner: token.owner, clientID: token.clientID)]
            entries[index].record = .refreshToken(token)
        }
    }

    /// What a report calls an entry: short, on one line, without a secret.
    static func title(_ kind: String, _ user: String?, _ app: String?, _ target: String? = nil) -> String {
        let parts = [user, app.map { "app \($0)" }, target].compactMap { $0?.trimmedNonEmpty }
        return ([kind] + parts.map(shortened)).joined(separator: ", ")
    }

    private static func shortened(_ text: String) -> String {
        String(text.prefix(100).map { $0.isNewline || $0 == "\0" ? " " : $0 })
    }
}

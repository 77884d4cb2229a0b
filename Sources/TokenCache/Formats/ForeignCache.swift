package import TokenModel

/// What a cache of another library says, before it is held against the agent's own.
package struct ForeignCache: Sendable {
    /// A record, and what the file says beyond it.
    struct Entry: Sendable {
        var record: CacheRecord
        /// Who it is in a tenant's directory, for an account that is known by its name alone.
        var person: Person?
        /// The realm that it was asked of, where that is not the tenant that issued it.
        var askedRealm: String?
        /// Whether it says which tenant an account is in, as an archive of ADAL need not.
        var knowsTenant = true
        /// Whether it is an entry of the schema that MSAL's libraries share; they look for it as it stands.
        var isUnified = false
    }

    /// An account in one tenant's directory.
    struct Person: Sendable, Hashable {
        var tenantID: String
        var objectID: String
    }

    /// Who got tokens, as far as the file says, and for which app.
    struct Holder: Hashable {
        var owner: OwnerID
        var clientID: ClientID
        /// For an account that is known by its name alone: where it is, and who it is there.
        var environment: String?
        var person: Person?
    }

    /// Entries that have to be held against one another.
    private enum Crowd: Hashable {
        case owner(OwnerID)
        case name(String)
        case apps
    }

    private(set) var entries: [Entry] = []
    private(set) var skipped = SkippedEntries()
    /// When an app last obtained tokens of an account: what is known of a refresh token's age that does not say it itself.
    private(set) var obtained: [Holder: Int64] = [:]
    private var crowds: [Crowd: Int] = [:]
    /// Texts that many entries have in common.
    var shared = SharedTexts()
    let now: Int64
    let clouds: CloudDirectory

    /// Reads a cache.
    ///
    /// - Parameters:
    ///   - file: is let go of, part by part, as it is read.
    ///   - now: to tell what has expired.
    ///   - timeZone: where ADAL for Python ran, which writes local times.
    ///   - clouds: which hosts are one cloud.
    /// - Throws: `cacheBadFormat` (-51201) when the file is no such cache, with what is wrong.
    package init(
        _ file: ForeignFile, format: CacheFormat, now: Int64, timeZone: LocalTimeZone,
        clouds: CloudDirectory = CloudDirectory()
    ) throws(TokenError) {
        self.now = now
        self.clouds = clouds
        switch format {
        case .msalJSON: try readUnified(file)
        case .adalJSON: try readADAL(file, timeZone: timeZone)
        case .adalArchive:
            let archive = try ADALArchive(file.joined())
            skipped = archive.skipped
            read(archive.entries)
        }
        crowds = [:]
        shared = SharedTexts()
    }

    mutating func skip(_ title: String, _ reason: String) { skipped.add(title, reason) }

    /// Adds a record, unless there is a reason not to.
    mutating func add(
        _ record: CacheRecord, _ title: @autoclosure () -> String, person: Person? = nil, askedRealm: String? = nil,
        knowsTenant: Bool = true, isUnified: Bool = false
    ) {
        do throws(LimitViolation) {
            entries.append(
                Entry(
                    record: try accepted(record, person), person: person, askedRealm: askedRealm,
                    knowsTenant: knowsTenant, isUnified: isUnified))
        } catch {
            skip(title(), error.reason)
        }
    }

    /// - Throws: the reason not to take the record.
    private mutating func accepted(_ record: CacheRecord, _ person: Person?) throws(LimitViolation) -> CacheRecord {
        guard !record.isMistakable else {
            throw LimitViolation(reason: "its identifier could be taken for another account's")
        }
        guard let record = try record.withinLimits().withPossibleTimes else {
            throw LimitViolation(reason: "its times are none that a clock shows")
        }
        guard record.unknownFields.map({ $0.utf8.count <= ValueLimits.unknownFields }) ?? true else {
            throw LimitViolation(reason: Self.tooLong)
        }
        if case .accessToken(let token) = record {
            note(obtained: token.cachedAt, token.owner, token.clientID, token.environment, person)
            guard token.expiresOn > now else { throw LimitViolation(reason: "it has expired") }
            guard token.cachedAt <= now else {
                throw LimitViolation(
                    reason: "it was saved in what is now the future, so that its times mean nothing")
            }
        }
        guard isBearable(record) else {
            throw LimitViolation(reason: "the cache has more than \(Self.mostAlike) entries like it")
        }
        guard entries.count < Self.mostEntries else {
            throw LimitViolation(reason: "the cache has more than \(Self.mostEntries) entries")
        }
        return record
    }

    /// Whether there are not too many that an import would hold it against: each of them, every time.
    private mutating func isBearable(_ record: CacheRecord) -> Bool {
        var groups: [Crowd] = []
        if let owner = record.owner { groups.append(.owner(owner)) }
        if case .account(let account) = record { groups.append(.name(account.username.lowercased())) }
        if case .appMetadata = record { groups.append(.apps) }
        for group in groups { crowds[group, default: 0] += 1 }
        return groups.allSatisfy { crowds[$0, default: 0] <= Self.mostAlike }
    }

    /// Far more than one account has, and few enough to compare each with each.
    private static let mostAlike = 2000
    /// More than the longest file has, if its entries hold tokens.
    private static let mostEntries = 500_000
    static let tooLong = "it is longer than \(ValueLimits.unknownFields >> 20) MiB"

    mutating func note(
        obtained time: Int64?, _ owner: OwnerID, _ clientID: ClientID, _ environment: String, _ person: Person?
    ) {
        guard let time, time > 0, time <= now else { return }
        let isNamed = owner.homeAccountID == nil
        let holder = Holder(
            owner: owner, clientID: clientID, environment: isNamed ? environment : nil, person: isNamed ? person : nil)
        obtained[holder] = max(obtained[holder] ?? 0, time)
    }

    /// What a report calls an entry: short, on one line, without a secret.
    static func title(_ kind: String, _ user: String?, _ app: String?, _ target: String? = nil) -> String {
        let parts = [user, app.map { "app \($0)" }, target].compactMap { $0?.trimmedNonEmpty }
        return ([kind] + parts.map { UntrustedText.clean($0, limit: 100) }).joined(separator: ", ")
    }
}

/// What an import leaves out: how many entries, and the first of them.
struct SkippedEntries: Sendable {
    private(set) var first: [ImportCache.Skipped] = []
    private(set) var count = 0

    mutating func add(_ entry: String, _ reason: String) {
        count += 1
        if first.count < Self.most { first.append(ImportCache.Skipped(entry: entry, reason: reason)) }
    }

    /// As many as people read, and a list in a message may hold.
    private static let most = 200
}

/// Texts that occur again and again in a file, each kept once.
struct SharedTexts: Sendable {
    private var texts: [String: String] = [:]
    private var clientIDs: [String: ClientID] = [:]
    private var scopes: [String: ScopeSet] = [:]
    private var homeAccountIDs: [String: HomeAccountID] = [:]

    mutating func callAsFunction(_ text: String) -> String {
        if let known = texts[text] { return known }
        texts[text] = text
        return text
    }

    mutating func clientID(_ text: String) -> ClientID? {
        if let known = clientIDs[text] { return known }
        let clientID = ClientID(text)
        clientIDs[text] = clientID
        return clientID
    }

    mutating func scopes(target: String) -> ScopeSet {
        if let known = scopes[target] { return known }
        let set = ScopeSet(target: target)
        scopes[target] = set
        return set
    }

    mutating func homeAccountID(_ text: String) -> HomeAccountID? {
        if let known = homeAccountIDs[text] { return known }
        let identifier = HomeAccountID(text)
        homeAccountIDs[text] = identifier
        return identifier
    }
}

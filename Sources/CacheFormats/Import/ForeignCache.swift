internal import TokenCache
package import TokenModel

/// The records of a cache of another library, before they are merged into the agent's.
package struct ForeignCache: Sendable {
    /// A record, with the facts about it that only the import needs.
    struct Entry: Sendable {
        var record: CacheRecord
        /// The user in a tenant's directory, for an account that is known by its username alone.
        var user: DirectoryUser?
        /// The realm that was requested, if it is not the tenant that issued the token.
        var requestedRealm: String?
        /// Whether the entry names the account's tenant; an archive of ADAL need not.
        var knowsTenant = true
        /// Whether this is an entry of the schema that MSAL's libraries share, which find it by its fields.
        var isUnified = false
        /// Whether the entry has a name of MSAL for Go 1.0, which has capitals. Later versions leave such an entry behind, with a token that
        /// may have been used up, when they save the same under a name in lower case.
        var hasOldName = false
    }

    /// An account in one tenant's directory.
    struct DirectoryUser: Sendable, Hashable {
        var tenantID: String
        var objectID: String
    }

    /// An app and the account that it obtained tokens of.
    struct Holder: Hashable {
        var account: AccountKey
        var clientID: ClientID
        /// For an account that is known by its username alone: its environment, and the user in the tenant's directory.
        var environment: String?
        var user: DirectoryUser?
    }

    /// Entries that an import compares with one another.
    private enum ComparisonGroup: Hashable {
        case account(AccountKey)
        case name(String)
        case apps
    }

    private(set) var entries: [Entry] = []
    private(set) var skipped = SkippedEntries()
    /// The time at which an app last obtained tokens of an account: the age of a refresh token that has no time of its own.
    private(set) var obtained: [Holder: Int64] = [:]
    /// The number of entries in each comparison group.
    private var comparisonGroups: [ComparisonGroup: Int] = [:]
    /// Texts that many entries share.
    var shared = SharedTexts()
    let now: Int64
    let clouds: CloudDirectory

    /// Reads a cache.
    ///
    /// - Parameters:
    ///   - file: the cache; its parts are released as they are read.
    ///   - now: the time, in seconds since 1970; expired tokens are skipped.
    ///   - timeZone: the time zone of the machine that ADAL for Python ran on, which writes local times.
    ///   - clouds: the host names of each cloud.
    ///   - budget: the time for reading.
    /// - Throws: `cacheBadFormat` (-51201) if the file is not such a cache, with the reason; `timedOut` (-53006) if the time has passed.
    package init(
        _ file: ForeignFile, format: CacheFormat, now: Int64, timeZone: LocalTimeZone,
        clouds: CloudDirectory = CloudDirectory(), budget: ImportBudget = .unlimited
    ) throws(TokenError) {
        self.now = now
        self.clouds = clouds
        file.limit(to: budget)
        do throws(TokenError) {
            switch format {
            case .msalJSON: try readUnified(file)
            case .adalJSON: try readADAL(file, timeZone: timeZone)
            case .adalArchive:
                let archive = try ADALArchive(file.joined())
                skipped = archive.skipped
                read(archive.entries)
            }
        } catch {
            // When the time has passed, the file ends early and is not valid: the time-out is the error to report.
            try budget.check()
            throw error
        }
        try budget.check()
        comparisonGroups = [:]
        shared = SharedTexts()
    }

    mutating func skip(_ title: String, _ reason: String) { skipped.add(title, reason) }

    /// Adds a record, or skips it with the reason.
    mutating func add(
        _ record: CacheRecord, _ title: @autoclosure () -> String, user: DirectoryUser? = nil,
        requestedRealm: String? = nil,
        knowsTenant: Bool = true, isUnified: Bool = false, hasOldName: Bool = false
    ) {
        do throws(LimitViolation) {
            entries.append(
                Entry(
                    record: try accepted(record, user), user: user, requestedRealm: requestedRealm,
                    knowsTenant: knowsTenant, isUnified: isUnified, hasOldName: hasOldName))
        } catch {
            skip(title(), error.reason)
        }
    }

    /// Returns the record within the limits of the cache.
    ///
    /// - Throws: the reason for skipping it.
    private mutating func accepted(_ record: CacheRecord, _ user: DirectoryUser?) throws(LimitViolation) -> CacheRecord
    {
        guard !record.hasAmbiguousKey else {
            throw LimitViolation(reason: "its identifier could be taken for another account's")
        }
        guard let record = try record.withinLimits().withPossibleTimes else {
            throw LimitViolation(reason: "one of its times is before 1970 or after the year 9999")
        }
        guard record.header.unknownFields.map({ $0.utf8.count <= ValueLimits.unknownFields }) ?? true else {
            throw LimitViolation(reason: Self.tooLong)
        }
        if case .accessToken(let token) = record {
            note(obtained: token.cachedAt, token.account, token.clientID, token.environment, user)
            guard token.expiresOn > now else { throw LimitViolation(reason: "it has expired") }
            guard token.cachedAt <= now else {
                throw LimitViolation(
                    reason: "it was saved in what is now the future, so that its times mean nothing")
            }
        }
        guard isWithinComparisonLimit(record) else {
            throw LimitViolation(reason: "the cache has more than \(Self.maximumGroupSize) entries like it")
        }
        guard entries.count < Self.maximumEntries else {
            throw LimitViolation(reason: "the cache has more than \(Self.maximumEntries) entries")
        }
        return record
    }

    /// Whether the record's comparison groups are within the limit. Merging is quadratic in their size.
    private mutating func isWithinComparisonLimit(_ record: CacheRecord) -> Bool {
        var groups: [ComparisonGroup] = []
        if let account = record.header.account { groups.append(.account(account)) }
        if case .account(let account) = record { groups.append(.name(account.username.lowercased())) }
        if case .appMetadata = record { groups.append(.apps) }
        for group in groups { comparisonGroups[group, default: 0] += 1 }
        return groups.allSatisfy { comparisonGroups[$0, default: 0] <= Self.maximumGroupSize }
    }

    /// The maximum number of records of a comparison group, each of which is compared with every other. An account has far
    /// fewer.
    private static let maximumGroupSize = 2000
    /// The maximum number of entries. A file of the maximum size has fewer if its entries hold tokens.
    private static let maximumEntries = 500_000
    static let tooLong = "it is longer than \(ValueLimits.unknownFields >> 20) MiB"

    /// Notes when an app obtained tokens of an account.
    mutating func note(
        obtained time: Int64?, _ account: AccountKey, _ clientID: ClientID, _ environment: String,
        _ user: DirectoryUser?
    ) {
        guard let time, time > 0, time <= now else { return }
        let isNamed = account.homeAccountID == nil
        let holder = Holder(
            account: account, clientID: clientID, environment: isNamed ? environment : nil, user: isNamed ? user : nil)
        obtained[holder] = max(obtained[holder] ?? 0, time)
    }

    /// The title of an entry in a report: short, on one line, without a secret.
    static func title(_ kind: String, _ user: String?, _ app: String?, _ target: String? = nil) -> String {
        let parts = [user, app.map { "app \($0)" }, target].compactMap { $0?.trimmedNonEmpty }
        return ([kind] + parts.map { UntrustedText.clean($0, limit: 100) }).joined(separator: ", ")
    }
}

/// The entries that an import skipped: their number, and the first of them with reasons.
struct SkippedEntries: Sendable {
    private(set) var first: [ImportCache.Skipped] = []
    private(set) var count = 0

    /// Whether the next one is among the first.
    var namesNext: Bool { first.count < Self.maximumReported }

    mutating func add(_ entry: String, _ reason: String) {
        count += 1
        if namesNext { first.append(ImportCache.Skipped(entry: entry, reason: reason)) }
    }

    /// The number of entries in a report; below the longest list in a message.
    private static let maximumReported = 200
}

/// Texts that occur repeatedly in a file; each is in memory once.
struct SharedTexts: Sendable {
    private var texts: [ExactText: String] = [:]
    private var clientIDs: [ExactText: ClientID?] = [:]
    private var scopes: [ExactText: ScopeSet] = [:]
    private var homeAccountIDs: [ExactText: HomeAccountID?] = [:]

    mutating func callAsFunction(_ text: String) -> String { Self.value(of: text, in: &texts) { $0 } }

    mutating func clientID(_ text: String) -> ClientID? { Self.value(of: text, in: &clientIDs, ClientID.init) }

    mutating func scopes(target: String) -> ScopeSet { Self.value(of: target, in: &scopes, ScopeSet.init(target:)) }

    mutating func homeAccountID(_ text: String) -> HomeAccountID? {
        Self.value(of: text, in: &homeAccountIDs, HomeAccountID.init)
    }

    private static func value<Value>(
        of text: String, in known: inout [ExactText: Value], _ make: (String) -> Value
    ) -> Value {
        let key = ExactText(text)
        if let value = known[key] { return value }
        let value = make(text)
        known[key] = value
        return value
    }
}

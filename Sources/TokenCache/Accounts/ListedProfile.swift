internal import TokenModel

/// What a list shows of one account record: the account's profile in a tenant.
struct ListedProfile: Equatable {
    /// The profile without an ID token.
    let profile: TenantProfile
    /// The library that has brought the account's tokens.
    let source: Account.Source
    /// The user ID that ADAL has given its apps, if it is not the username.
    let adalUserID: String?

    /// The account without its tenant profiles, as the record describes it.
    func account(_ key: AccountKey) -> Account {
        Account(
            homeAccountID: key.homeAccountID, username: profile.username, environment: environment, source: source)
    }
}

extension ListedProfile {
    init(_ record: AccountRecord) {
        profile = TenantProfile(
            realm: record.realm, localAccountID: record.localAccountID,
            username: record.username.isEmpty ? nil : record.username, environment: record.environment,
            isHome: record.isHome)
        source = record.source == AccountRecord.adalSource ? .adal : .msal
        adalUserID = record.adalUserID
    }

    /// Reads a packed account record; nil if it is incomplete.
    ///
    /// - Parameters:
    ///   - identifier: the home account ID of the account.
    ///   - texts: has hosts and tenants, which many accounts have in common.
    init?(_ fields: PackedFields, _ identifier: HomeAccountID?, _ texts: TextPool) {
        guard let username = fields[.username], let environment = fields[.environment], let realm = fields[.realm],
            let type = fields[.authorityType]
        else { return nil }
        let tenant = texts.text(realm)
        profile = TenantProfile(
            realm: tenant, localAccountID: fields[.localAccountID].map { String(decoding: $0, as: UTF8.self) },
            username: username.isEmpty ? nil : String(decoding: username, as: UTF8.self),
            environment: texts.text(environment),
            isHome: !type.elementsEqual(AccountRecord.entraType.utf8)
                || AccountRecord.isHome(tenant, of: identifier?.text))
        source = fields[.source]?.elementsEqual(AccountRecord.adalSource.utf8) == true ? .adal : .msal
        adalUserID = fields[.adalUserID].map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Something of an account that has a place in its list of tenants.
protocol InListOrder {
    /// Whether the realm is the account's home tenant.
    var isHome: Bool { get }
    var realm: String { get }
    var environment: String { get }
}

extension AccountRecord: InListOrder {}

extension ListedProfile: InListOrder {
    var isHome: Bool { profile.isHome }
    var realm: String { profile.realm }
    var environment: String { profile.environment }
    var username: String { profile.username ?? "" }
}

extension Array where Element: InListOrder {
    /// The account's records in a stable order: the home tenant's first, then by realm.
    var inListOrder: Self {
        guard count > 1 else { return self }
        // Only the compared values are sorted: moving whole records takes longer than everything else.
        let places = enumerated().map {
            (index: $0.offset, isHome: $0.element.isHome, realm: $0.element.realm, environment: $0.element.environment)
        }
        return places.sorted { one, other in
            if one.isHome != other.isHome { return one.isHome }
            // By the bytes, as the pages of a list.
            if !one.realm.hasSameBytes(as: other.realm) { return one.realm.precedes(other.realm) }
            return one.environment.precedes(other.environment)
        }.map { self[$0.index] }
    }

    /// The first record of each realm.
    var withoutRepeatedRealms: Self {
        guard count > 1 else { return self }
        var realms = Set<ExactText>()
        return filter { realms.insert(ExactText($0.realm)).inserted }
    }
}

extension [ListedProfile] {
    /// The names by which requests find the account, in lower case: the usernames, and ADAL's user IDs.
    var usernames: Set<String> { Set(map { $0.username.lowercased() } + compactMap(\.adalUserID)) }
}

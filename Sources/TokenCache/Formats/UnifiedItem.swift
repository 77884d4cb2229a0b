internal import TokenModel

/// The sections of the token cache that Microsoft's libraries share, by their names in the JSON.
enum UnifiedSection: String, CaseIterable {
    case account = "Account"
    case appMetadata = "AppMetadata"
    case idToken = "IdToken"
    case refreshToken = "RefreshToken"
    case accessToken = "AccessToken"
    /// Not theirs: what their schema has no place for. They keep sections that they do not know.
    case own = "SSOAgent"
}

/// One entry of that cache as its members, in the schema's own names.
struct UnifiedItem {
    var members: [JSONTree.Member] = []

    init() {}

    /// Of members of one name the last counts, everywhere: another would pass for something that nobody here understands.
    init(_ tree: JSONTree) {
        var names: Set<String> = []
        members = tree.members.reversed().filter { names.insert($0.name).inserted }.reversed()
    }

    subscript(name: String) -> JSONTree? {
        members.last { $0.name == name }?.value
    }

    /// A text that is not blank.
    func text(_ name: String) -> String? { self[name]?.string }

    /// The scopes, separated by spaces: a text, in early Python a list.
    var target: String? {
        if let text = text("target") { return text }
        let list = self["target"]?.values.compactMap(\.string) ?? []
        return list.isEmpty ? nil : list.joined(separator: " ")
    }

    mutating func put(_ name: String, _ text: String?) {
        if let text { members.append(JSONTree.Member(name: name, value: .text(text))) }
    }

    mutating func put(_ name: String, _ number: Int64?) { put(name, number.map { String($0) }) }

    /// Drops a member.
    mutating func drop(_ name: String) { members.removeAll { $0.name == name } }

    /// Gives a member another text, in its place.
    mutating func replace(_ name: String, with text: String) {
        for index in members.indices where members[index].name == name { members[index].value = .text(text) }
    }

    /// What `self` says beyond `known`, as JSON: members that are unknown here, and those of an identity that is spelt
    /// otherwise. Not what changes with every renewal of a credential, nor the realm that was asked: the account's metadata tells
    /// that. A time that is written as a number stays, for its form.
    func foreign(beyond known: UnifiedItem, askedRealm: String? = nil) -> String {
        let rest = members.filter { member in
            if known.isCredential, Self.renewed.contains(member.name) { return Self.isNumericTime(member) }
            return known[member.name] != member.value && !(askedRealm != nil && member.name == "realm")
        }
        return JSONTree.object(rest).json
    }

    /// Takes in what another library wrote.
    mutating func take(foreign: String?) {
        guard let foreign, foreign != Self.nothingForeign, let tree = try? JSONReader.read(Array(foreign.utf8)) else {
            return
        }
        let isCredential = isCredential
        var places = Dictionary(members.indices.map { (members[$0].name, $0) }) { first, _ in first }
        for member in tree.members {
            let place = places[member.name]
            if isCredential, Self.isNumericTime(member) {
                if let place { members[place].value = members[place].value.number(inFormOf: member.value) }
            } else if let place {
                members[place].value = member.value
            } else {
                places[member.name] = members.count
                members.append(member)
            }
        }
    }

    private var isCredential: Bool { self["credential_type"] != nil }

    /// Members that a renewal of a credential gives new values; an old one must not come back over a new one.
    private static let renewed: Set = times.union(["secret", "ext_expires_on", "token_type", "credential_type"])

    private static let times: Set = [
        "cached_at", "expires_on", "extended_expires_on", "refresh_on", "last_modification_time",
    ]

    /// Early Python reads its times as numbers, and fails where it finds texts.
    private static func isNumericTime(_ member: JSONTree.Member) -> Bool {
        guard case .number = member.value else { return false }
        return times.contains(member.name)
    }

    /// An account as it is written: with what another library wrote of it.
    init(_ record: AccountRecord, as foreign: String?) {
        self.init(record)
        take(foreign: foreign)
    }

    init(_ record: AppMetadataRecord, as foreign: String?) {
        self.init(record)
        take(foreign: foreign)
    }

    /// What foreign members look like when there are none.
    static let nothingForeign = "{}"
}

extension UnifiedItem {
    init(_ record: AccessTokenRecord) {
        self.init(
            credential: "AccessToken", record.owner, environment: record.environment, clientID: record.clientID,
            secret: record.secret.reveal())
        put("realm", record.realm)
        put("target", record.scopes.target)
        put("token_type", record.tokenType)
        put("cached_at", record.cachedAt)
        put("expires_on", record.expiresOn)
        put("extended_expires_on", record.extendedExpiresOn)
        put("refresh_on", record.refreshOn)
    }

    init(_ record: RefreshTokenRecord) {
        self.init(
            credential: "RefreshToken", record.owner, environment: record.environment, clientID: record.clientID,
            secret: record.secret.reveal())
        put("family_id", record.familyID?.text)
        put("last_modification_time", record.obtainedOn)
    }

    init(_ record: IDTokenRecord) {
        self.init(
            credential: "IdToken", record.owner, environment: record.environment, clientID: record.clientID,
            secret: record.idToken)
        put("realm", record.realm)
    }

    init(_ record: AccountRecord) {
        put("home_account_id", record.homeAccountID)
        put("environment", record.environment)
        put("realm", record.realm)
        put("local_account_id", record.localAccountID)
        put("username", record.username)
        put("authority_type", record.authorityType)
        put("name", record.name)
        put("given_name", record.givenName)
        put("family_name", record.familyName)
        put("alternative_account_id", record.alternativeAccountID)
        put("client_info", record.clientInfo)
        if record.source == "adal" { put("source", record.source) }
    }

    init(_ record: AppMetadataRecord) {
        put("client_id", record.clientID)
        put("environment", record.environment)
        if !record.familyID.isEmpty { put("family_id", record.familyID) }
    }

    private init(credential type: String, _ owner: OwnerID, environment: String, clientID: ClientID, secret: String) {
        put("home_account_id", owner.homeAccountID?.text)
        put("environment", environment)
        put("credential_type", type)
        put("client_id", clientID.text)
        put("secret", secret)
    }
}

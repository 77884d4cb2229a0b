internal import TokenCache
internal import TokenModel

/// The sections of the token cache that Microsoft's libraries share, by their names in the JSON.
enum UnifiedSection: String, CaseIterable {
    case account = "Account"
    case appMetadata = "AppMetadata"
    case idToken = "IdToken"
    case refreshToken = "RefreshToken"
    case accessToken = "AccessToken"
    /// The agent's own section, for records that the schema has no place for. The libraries keep sections that they do not know.
    case own = "SSOAgent"

    /// The name of the section's entries in a report.
    var entryName: String {
        switch self {
        case .account: "account"
        case .appMetadata: "app metadata"
        case .idToken: "ID token"
        case .refreshToken: "refresh token"
        case .accessToken: "access token"
        case .own: "record"
        }
    }
}

/// The fields of the schema's entries: every name that an import reads or an export writes.
enum UnifiedField: String {
    case homeAccountID = "home_account_id"
    case environment
    case realm
    case clientID = "client_id"
    case familyID = "family_id"

    /// Written by the agent only, beside an environment without its port: the environment with the port.
    case agentEnvironment = "sso_agent_environment"
    /// The issuer in the account's key. Written by the agent only, if nothing else in the entry identifies the account's provider.
    case agentIssuer = "sso_agent_issuer"

    // Accounts.
    case localAccountID = "local_account_id"
    case username
    case authorityType = "authority_type"
    case name
    case givenName = "given_name"
    case familyName = "family_name"
    case alternativeAccountID = "alternative_account_id"
    case clientInfo = "client_info"
    /// Written by the agent only: `adal` for an account that ADAL made known.
    case source

    // Credentials.
    case credentialType = "credential_type"
    case secret
    case target
    case tokenType = "token_type"
    case cachedAt = "cached_at"
    case expiresOn = "expires_on"
    case extendedExpiresOn = "extended_expires_on"
    /// The older name of `extendedExpiresOn`, which MSAL for .NET writes in addition.
    case extendedExpiresOnShort = "ext_expires_on"
    case refreshOn = "refresh_on"
    case lastModificationTime = "last_modification_time"

    // Fields of access tokens that answer only the request they were issued for.
    case userAssertionHash = "user_assertion_hash"
    case userAssertionHashCamelCase = "userAssertionHash"
    case extCacheKey = "ext_cache_key"
    case requestedClaims = "requested_claims"
    case requestedClaimsCamelCase = "requestedClaims"
    case requestedClaimsHash = "requestedClaimsHash"
    case ext
    /// The app, and the enrolment of the device, for which the device's management had the token issued.
    case applicationCacheIdentifier = "application_cache_identifier"
    case enrollmentID = "enrollment_id"

    // Entries of the agent's own section.
    case kind
    case record

    /// Fields that the renewal of a credential changes. A preserved old value must not replace a new one.
    static let renewed = Set(
        times.union([Self.secret, .extendedExpiresOnShort, .tokenType, .credentialType].map(\.rawValue)))

    /// Fields that a token response can add to an account or an app. A preserved empty value must not replace a new one.
    static let learnt = Set(
        [
            Self.familyID, .localAccountID, .username, .name, .givenName, .familyName, .alternativeAccountID,
            .clientInfo,
        ].map(\.rawValue))

    /// Fields that the agent adds to its own entries, or spells as the identity provider does.
    static let agents = Set([Self.agentEnvironment, .agentIssuer, .homeAccountID].map(\.rawValue))

    static let times = Set(
        [Self.cachedAt, .expiresOn, .extendedExpiresOn, .refreshOn, .lastModificationTime].map(\.rawValue))
}

/// One entry of that cache, as a list of fields.
struct UnifiedItem {
    private(set) var members: [JSONTree.Member] = []

    init() {}

    /// Reads an entry. Of fields with one name only the last is kept; otherwise the others would count as unknown fields.
    init(_ tree: JSONTree) {
        var names: Set<ExactText> = []
        members = tree.members.reversed().filter { names.insert(ExactText($0.name)).inserted }.reversed()
        if let own = text(.agentEnvironment), text(.environment) == URLParts.host(ofEnvironment: own) {
            replace(.environment, with: own)
        }
    }

    var tree: JSONTree { .object(members) }

    subscript(field: UnifiedField) -> JSONTree? { self[name: field.rawValue] }

    subscript(name name: String) -> JSONTree? { members.last { $0.name.hasSameBytes(as: name) }?.value }

    /// The text of a field; nil if it is blank.
    func text(_ field: UnifiedField) -> String? { self[field]?.string }

    /// The scopes, separated by spaces. Early versions of MSAL for Python write them as a list.
    var target: String? { joinedScopes { $0 } }

    private func joinedScopes(inOrder order: ([String]) -> [String]) -> String? {
        if let text = text(.target) { return text }
        let list = self[.target]?.values.compactMap(\.string) ?? []
        return list.isEmpty ? nil : order(list).joined(separator: " ")
    }

    mutating func put(_ field: UnifiedField, _ text: String?) {
        if let text { members.append(JSONTree.Member(name: field.rawValue, value: .text(text))) }
    }

    /// Adds a number as a text, as most libraries write times.
    mutating func put(_ field: UnifiedField, _ number: Int64?) { put(field, number.map { String($0) }) }

    /// Gives a field another text, in its place.
    mutating func replace(_ field: UnifiedField, with text: String) {
        for index in members.indices where members[index].name == field.rawValue {
            members[index].value = .text(text)
        }
    }
}

/// Unknown fields: what an entry holds beyond the record that it is read as.
extension UnifiedItem {
    /// The fields of this entry that `known` does not have, or has with another value, as JSON.
    ///
    /// Fields that change when a credential is renewed are left out, and the realm if it is not the issuing tenant: the account's
    /// metadata holds that. A time that is written as a number is included, for its form.
    ///
    /// - Parameters:
    ///   - known: the entry as it would be written from the record.
    ///   - requestedRealm: the realm that was requested, if it is not the tenant that issued the token.
    func unknownFields(beyond known: UnifiedItem, requestedRealm: String? = nil) -> String {
        let rest = members.filter { member in
            if known.isCredential, UnifiedField.renewed.contains(member.name) { return Self.isNumericTime(member) }
            return known[name: member.name] != member.value
                && !(requestedRealm != nil && member.name == UnifiedField.realm.rawValue)
        }
        return JSONTree.object(rest).json
    }

    /// Adds the unknown fields of a record, and gives the fields that it has the values of the other library, unless that one had none.
    mutating func merge(unknownFields: String?) {
        guard let unknownFields, unknownFields != UnknownFields.none,
            let tree = try? JSONReader.read(Array(unknownFields.utf8))
        else { return }
        let isCredential = isCredential
        var places = Dictionary(members.indices.map { (ExactText(members[$0].name), $0) }) { first, _ in first }
        for member in tree.members {
            let place = places[ExactText(member.name)]
            if isCredential, Self.isNumericTime(member) {
                if let place { members[place].value = members[place].value.number(inFormOf: member.value) }
            } else if let place {
                if !Self.isEmpty(member) || members[place].value.string == nil { members[place].value = member.value }
            } else {
                places[ExactText(member.name)] = members.count
                members.append(member)
            }
        }
    }

    private var isCredential: Bool { self[.credentialType] != nil }

    /// Whether a field had no value when its library wrote it, and may have one now.
    private static func isEmpty(_ member: JSONTree.Member) -> Bool {
        guard UnifiedField.learnt.contains(member.name) else { return false }
        return switch member.value {
        case .null: true
        case .text: member.value.string == nil
        case .bool, .number, .list, .object: false
        }
    }

    /// Early versions of MSAL for Python write times as numbers, and fail when they read texts.
    private static func isNumericTime(_ member: JSONTree.Member) -> Bool {
        guard case .number = member.value else { return false }
        return UnifiedField.times.contains(member.name)
    }
}

/// Names of entries.
extension UnifiedItem {
    /// The name of the entry in its section: the one that most libraries give it, or MSAL for Python's own if Python wrote the
    /// entry, since Python replaces entries by their names.
    func key(in section: UnifiedSection) -> String {
        func part(_ field: UnifiedField) -> String { text(field) ?? "" }
        let account = "\(part(.homeAccountID))-\(part(.environment))"
        let clientID = part(.clientID)
        switch section {
        case .account: return "\(account)-\(part(.realm))".lowercased()
        case .idToken: return "\(account)-idtoken-\(clientID)-\(part(.realm))-".lowercased()
        case .accessToken: return "\(account)-accesstoken-\(clientID)-\(part(.realm))-\(keyTarget ?? "")".lowercased()
        case .refreshToken:
            if let target = keyTarget { return "\(account)-refreshtoken-\(clientID)--\(target)".lowercased() }
            return "\(account)-refreshtoken-\(text(.familyID) ?? clientID)--".lowercased()
        // Python looks up app metadata by name, and keeps the case of the client ID.
        case .appMetadata: return "appmetadata-\(part(.environment))-\(clientID)"
        case .own: return ""
        }
    }

    /// The scopes in a name. Early versions of MSAL for Python, which write them as a list, sort them.
    private var keyTarget: String? { joinedScopes { $0.sorted() } }
}

internal import TokenCache
internal import TokenModel

/// The tenants that issued the tokens of a cache, and the usernames of its accounts, by its ID tokens.
///
/// A library writes the realm that it requested, which may be `common` or a domain; the agent finds a token by the tenant that
/// issued it. An ID token may be saved under another name of the cloud than its access token, by another library.
struct UnifiedTenants {
    private struct Place: Hashable {
        let home: String
        let cloud: String
        /// Empty for an account entry, which names no app.
        let clientID: String
        let realm: String

        /// Whether a token of this place can be saved.
        var isWithinLimits: Bool { [home, clientID, realm].allSatisfy(ValueLimits.isIdentifier) }
    }

    private let clouds: CloudDirectory
    private var tenants: [Place: String] = [:]
    private var names: [String: String] = [:]
    private var shared = SharedTexts()

    init(_ clouds: CloudDirectory) { self.clouds = clouds }

    /// Adds an entry of the section of ID tokens. One that cannot be saved is ignored, since no export has it.
    mutating func add(_ item: UnifiedItem) {
        let place = place(of: item)
        guard place.isWithinLimits, item.text(.secret).map(IDTokenRecord.isWithinLimits) == true,
            let claims = Self.claims(of: item)
        else { return }
        if let home = item.text(.homeAccountID)?.lowercased(), let name = claims.username { names[home] = name }
        guard let tenant = Self.tenant(claims), !isOfADFS(item) else { return }
        let ofApp = Place(
            home: shared(place.home), cloud: shared(place.cloud), clientID: shared(place.clientID),
            realm: shared(place.realm))
        let ofAnyApp = Place(home: ofApp.home, cloud: ofApp.cloud, clientID: "", realm: ofApp.realm)
        // Of several tenants the same one in any order, since an export has another order.
        for place in [ofApp, ofAnyApp] { tenants[place] = shared(max(tenants[place] ?? "", tenant)) }
    }

    /// Whether the realm of an entry is that of AD FS. AD FS has no tenants, whatever its token says; in an export, the realm distinguishes
    /// it from other providers.
    private func isOfADFS(_ item: UnifiedItem) -> Bool {
        guard UnifiedIssuers.realm(of: item) == UnifiedIssuers.adfsRealm else { return false }
        guard item.text(.realm) == nil else { return true }
        let environment = item.text(.environment)?.lowercased() ?? ""
        return !clouds.trustsEntraType(at: environment) && item.agentIssuer(at: environment) == nil
    }

    /// Whether an ID token is of the tenant to which its realm leads. If another ID token of the app leads to another
    /// tenant, this one is not imported: an export has only one of them, from which a later import would find that
    /// tenant for all tokens.
    func agrees(with item: UnifiedItem) -> Bool {
        guard let tenant = tenants[place(of: item)] else { return true }
        let named = Self.claims(of: item).flatMap(Self.tenant)
        return named == tenant || named == nil && item.text(.realm)?.lowercased() == tenant
    }

    private static func claims(of item: UnifiedItem) -> IDTokenClaims? {
        item.text(.secret).flatMap { IDTokenClaims(idToken: $0) }
    }

    private static func tenant(_ claims: IDTokenClaims) -> String? { claims.tenantID?.lowercased() }

    /// The tenant that issued an entry's token; nil if it is unknown.
    func tenant(of item: UnifiedItem) -> String? { tenants[place(of: item)] ?? Self.b2cTenant(of: item) }

    /// The tenant of a B2C account, which is in one only. B2C's ID tokens need not name it.
    private static func b2cTenant(of item: UnifiedItem) -> String? {
        guard item.text(.environment).map({ isB2Cs($0.lowercased()) }) == true else { return nil }
        return item.text(.homeAccountID).flatMap(HomeAccountID.init)?.tenantID
    }

    /// Whether an environment is a B2C tenant's own host.
    static func isB2Cs(_ environment: String) -> Bool {
        CloudDirectory.isB2Cs(host: URLParts.host(ofEnvironment: environment))
    }

    /// The username of an entry's account, or its identifier if the username is unknown.
    func name(of item: UnifiedItem) -> String? {
        let home = item.text(.homeAccountID)?.lowercased()
        return home.map { names[$0] ?? $0 }
    }

    private func place(of item: UnifiedItem) -> Place {
        func part(_ field: UnifiedField) -> String { item.text(field)?.trimmedNonEmpty?.lowercased() ?? "" }
        return Place(
            home: part(.homeAccountID), cloud: clouds.cloud(of: part(.environment)).preferredCache,
            clientID: part(.clientID), realm: part(.realm))
    }
}

/// The realm of an authority in an authority map. Other libraries write authorities that are invalid here: MSAL for Python
/// writes `tfp` for B2C.
struct RequestedRealm {
    let environment: String
    let realm: String
    /// The authority; nil if it is invalid here.
    let authority: Authority?

    init?(_ url: String) {
        authority = try? Authority(url)
        if let authority {
            environment = authority.environment
            realm = authority.realm
        } else if let parts = try? URLParts(url), let first = parts.segments.first {
            environment = parts.environment
            realm = first
        } else {
            return nil
        }
    }
}

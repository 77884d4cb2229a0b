internal import TokenModel

/// Which tenants the ID tokens of a cache come from, and whom they are about.
///
/// A library writes the realm that it asked, which may be `common` or a domain; the agent finds a token by the tenant
/// that issued it. The ID token may stand under another name of the cloud than what it came with, as another library wrote it.
struct UnifiedTenants {
    private struct Place: Hashable {
        let home: String
        let cloud: String
        /// Empty for an account, which names no app.
        let client: String
        let realm: String
    }

    private let clouds: CloudDirectory
    private var tenants: [Place: String] = [:]
    private var names: [String: String] = [:]
    private var shared = SharedTexts()

    init(_ clouds: CloudDirectory) { self.clouds = clouds }

    /// Takes in an entry of the section of ID tokens.
    mutating func add(_ item: UnifiedItem) {
        guard let claims = item.text("secret").flatMap({ IDTokenClaims(idToken: $0) }) else { return }
        if let home = item.text("home_account_id")?.lowercased(), let name = claims.username { names[home] = name }
        guard let tenant = claims.tenantID?.trimmedNonEmpty?.lowercased() else { return }
        let place = place(of: item)
        let kept = Place(
            home: shared(place.home), cloud: shared(place.cloud), client: shared(place.client),
            realm: shared(place.realm))
        tenants[kept] = shared(tenant)
        tenants[Place(home: kept.home, cloud: kept.cloud, client: "", realm: kept.realm)] = shared(tenant)
    }

    /// The tenant that issued an entry's tokens; nil when nothing says.
    func tenant(of item: UnifiedItem) -> String? { tenants[place(of: item)] ?? Self.b2cTenant(of: item) }

    /// B2C's ID tokens need not say it; there the account is in one tenant only.
    private static func b2cTenant(of item: UnifiedItem) -> String? {
        guard item.text("environment")?.lowercased().hasSuffix(b2cHosts) == true else { return nil }
        return item.text("home_account_id").flatMap(HomeAccountID.init)?.tenantID
    }

    /// What the names of B2C's hosts end in.
    static let b2cHosts = ".b2clogin.com"

    /// The name of the account an entry belongs to; else its identifier.
    func name(of item: UnifiedItem) -> String? {
        let home = item.text("home_account_id")?.lowercased()
        return home.map { names[$0] ?? $0 }
    }

    private func place(of item: UnifiedItem) -> Place {
        func part(_ name: String) -> String { item.text(name)?.lowercased() ?? "" }
        return Place(
            home: part("home_account_id"), cloud: clouds.cloud(of: part("environment")).preferredCache,
            client: part("client_id"), realm: part("realm"))
    }
}

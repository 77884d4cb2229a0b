internal import TokenModel

/// Which tenants the ID tokens of a cache come from, and whom they are about.
///
/// A library writes the realm that it asked, which may be `common` or a domain; the agent finds a token by the tenant
/// that issued it.
struct UnifiedTenants {
    private var tenants: [[String]: String] = [:]
    private var names: [String: String] = [:]

    init(_ section: JSONTree?) {
        for entry in section?.members ?? [] {
            let item = UnifiedItem(entry.value)
            guard let claims = item.text("secret").flatMap({ IDTokenClaims(idToken: $0) }) else { continue }
            if let home = item.text("home_account_id")?.lowercased(), let name = claims.username { names[home] = name }
            guard let tenant = claims.tenantID?.trimmedNonEmpty?.lowercased() else { continue }
            tenants[Self.key(item)] = tenant
            // An account entry names no app.
            tenants[Self.key(item, client: "")] = tenant
        }
    }

    /// The tenant that issued an entry's tokens; nil when nothing says.
    func tenant(of item: UnifiedItem) -> String? { tenants[Self.key(item)] ?? Self.b2cTenant(of: item) }

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

    private static func key(_ item: UnifiedItem, client: String? = nil) -> [String] {
        let client = client ?? item.text("client_id") ?? ""
        return [item.text("home_account_id"), item.text("environment"), client, item.text("realm")].map {
            $0?.lowercased() ?? ""
        }
    }
}

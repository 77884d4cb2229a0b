internal import TokenCache
internal import TokenModel

/// The identity providers of a cache's accounts, by its account entries: credentials do not name them.
struct UnifiedIssuers {
    private struct Place: Hashable {
        let home: String
        let environment: String
    }

    private var issuers: [Place: Set<Issuer>] = [:]

    /// Adds an entry of the section of accounts.
    mutating func add(_ item: UnifiedItem) {
        guard let home = item.text(.homeAccountID)?.lowercased(),
            let environment = item.text(.environment)?.lowercased(),
            !CloudDirectory.isBuiltIn(environment)
        else { return }
        let issuer = AccountRecord.issuer(
            environment: environment, realm: item.text(.realm)?.lowercased() ?? Self.adfsRealm,
            authorityType: AccountRecord.authorityType(item.text(.authorityType)))
        issuers[Place(home: home, environment: environment), default: []].insert(issuer)
    }

    /// The issuer of an account's credential, in lower case; `unresolved` if the account is one of several issuers.
    ///
    /// Without an account entry the realm tells AD FS, which has no tenants.
    func issuer(of home: String, at environment: String, realm: String?) -> Issuer {
        guard !CloudDirectory.isBuiltIn(environment) else { return .microsoft }
        let known = issuers[Place(home: home, environment: environment)] ?? []
        if known.count > 1 { return .unresolved }
        let type = realm == Self.adfsRealm ? AccountRecord.adfsType : AccountRecord.entraType
        return known.first ?? AccountRecord.issuer(environment: environment, realm: "", authorityType: type)
    }

    static let adfsRealm = "adfs"
}

internal import Foundation

extension Directory {
    /// The tenant a realm names, or nil when it depends on the user.
    func tenantID(realm: String) -> String? {
        let realm = realm.lowercased()
        if ["common", "organizations", "adfs"].contains(realm) { return nil }
        if realm == "consumers" { return PersonalTenant.id }
        return UUID(uuidString: realm) == nil ? tenantID(domain: realm) : realm
    }

    /// The user to sign in where nobody is known and nobody was hinted.
    func defaultUsername(realm: String) -> String {
        switch realm.lowercased() {
        case "consumers", PersonalTenant.id: "user@outlook.com"
        case let domain where domain.contains("."): "user@\(domain)"
        default: "user@contoso.example"
        }
    }
}

internal import Foundation

/// The rules of the last path segment of an authority.
extension User {
    func isAdmitted(to realm: String) -> Bool {
        switch realm.lowercased() {
        case "consumers", Tenant.personal.id: isPersonal
        case "organizations": !isPersonal
        default: true
        }
    }
}

extension Directory {
    /// The tenant a realm names, or nil when it depends on the user.
    func tenantID(realm: String) -> String? {
        let realm = realm.lowercased()
        if ["common", "organizations", "adfs"].contains(realm) { return nil }
        if realm == "consumers" { return Tenant.personal.id }
        return UUID(uuidString: realm) == nil ? tenant(domain: realm).id : realm
    }

    /// The user to sign in where nobody is known and nobody was hinted.
    func defaultUsername(realm: String) -> String {
        switch realm.lowercased() {
        case "consumers", Tenant.personal.id: "user@outlook.com"
        case let domain where domain.contains("."): "user@\(domain)"
        default: "user@contoso.example"
        }
    }
}

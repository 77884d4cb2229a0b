extension User {
    /// Whether tokens of a realm, the last segment of an authority, are for this kind of account.
    func isAdmitted(to realm: String) -> Bool {
        switch realm.lowercased() {
        case "consumers", PersonalTenant.id: isPersonal
        case "organizations": !isPersonal
        default: true
        }
    }
}

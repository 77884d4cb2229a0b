/// A directory of users.
struct Tenant: Sendable, Equatable {
    var id: String
    var domain: String?

    /// The one tenant that all personal Microsoft accounts live in.
    static let personal = Tenant(id: "9188040d-6c67-4c5b-b112-36a304b66dad", domain: nil)

    static func isPersonal(domain: String) -> Bool {
        ["outlook.com", "hotmail.com", "live.com", "msn.com"].contains(domain.lowercased())
    }
}

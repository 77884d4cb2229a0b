/// The one tenant that all personal Microsoft accounts live in.
enum PersonalTenant {
    static let id = "9188040d-6c67-4c5b-b112-36a304b66dad"

    static func owns(domain: String) -> Bool {
        ["outlook.com", "hotmail.com", "live.com", "msn.com"].contains(domain.lowercased())
    }
}

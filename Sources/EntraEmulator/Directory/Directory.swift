internal import Crypto
internal import Foundation

/// Derives the IDs of tenants and users from their names and the seed: two emulators with the same seed have the same IDs.
struct Directory: Sendable {
    let seed: UInt64

    /// The GUID derived from these words.
    func guid(_ words: String...) -> String {
        var bytes = Array(digest(words).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = bytes.map { String(Int($0) + 0x100, radix: 16).suffix(2) }
        let groups = [hex[0..<4], hex[4..<6], hex[6..<8], hex[8..<10], hex[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// The opaque secret derived from these words.
    func secret(_ words: [String]) -> String {
        base64URL(digest(words) + digest(words + ["more"]))
    }

    func tenantID(domain: String) -> String {
        PersonalTenant.owns(domain: domain) ? PersonalTenant.id : guid("tenant", domain.lowercased())
    }

    /// The object ID of a user in a tenant, which differs between tenants.
    func objectID(of username: String, in tenantID: String) -> String {
        let id = guid("user", username.lowercased(), tenantID)
        // Personal accounts have a 64-bit ID, written as a GUID with zeros in front.
        return tenantID == PersonalTenant.id ? "00000000-0000-0000" + id.dropFirst(18) : id
    }

    /// The pairwise subject identifier (OpenID Connect Core section 8.1) of a user for an app in a tenant.
    func subject(of username: String, clientID: String, tenantID: String) -> String {
        base64URL(digest(["subject", username.lowercased(), clientID, tenantID]))
    }

    func user(username: String) -> User {
        let domain = username.split(separator: "@", omittingEmptySubsequences: false).dropFirst().last ?? ""
        let tenantID = tenantID(domain: domain.isEmpty ? "contoso.example" : String(domain))
        return User(
            username: username, homeTenantID: tenantID, objectID: objectID(of: username, in: tenantID))
    }

    private func digest(_ words: [String]) -> [UInt8] {
        Array(SHA256.hash(data: Data(([String(seed)] + words).joined(separator: "\0").utf8)))
    }
}

extension Directory {
    /// The tenant that a realm names; nil if it depends on the user, as for `common`.
    func tenantID(realm: String) -> String? {
        let realm = realm.lowercased()
        if ["common", "organizations", "adfs"].contains(realm) { return nil }
        if realm == "consumers" { return PersonalTenant.id }
        return UUID(uuidString: realm) == nil ? tenantID(domain: realm) : realm
    }

    /// The user to sign in if no user exists and the request has no `login_hint`.
    func defaultUsername(realm: String) -> String {
        switch realm.lowercased() {
        case "consumers", PersonalTenant.id: "user@outlook.com"
        case let domain where domain.contains("."): "user@\(domain)"
        default: "user@contoso.example"
        }
    }
}

/// The tenant of all personal Microsoft accounts.
enum PersonalTenant {
    static let id = "9188040d-6c67-4c5b-b112-36a304b66dad"

    static func owns(domain: String) -> Bool {
        ["outlook.com", "hotmail.com", "live.com", "msn.com"].contains(domain.lowercased())
    }
}

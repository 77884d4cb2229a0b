internal import Crypto
internal import Foundation

/// Every name has its IDs, and they follow from the seed alone: two emulators with one seed agree on them.
struct Directory: Sendable {
    let seed: UInt64

    /// A GUID that stands for these words.
    func guid(_ words: String...) -> String {
        var bytes = Array(digest(words).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = bytes.map { String(Int($0) + 0x100, radix: 16).suffix(2) }
        let groups = [hex[0..<4], hex[4..<6], hex[6..<8], hex[8..<10], hex[10..<16]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// An opaque secret that stands for these words.
    func secret(_ words: String...) -> String {
        base64URL(digest(words) + digest(words + ["more"]))
    }

    func tenantID(domain: String) -> String {
        PersonalTenant.owns(domain: domain) ? PersonalTenant.id : guid("tenant", domain.lowercased())
    }

    /// The object ID of a user in a tenant: another one in each.
    func objectID(of username: String, in tenantID: String) -> String {
        let id = guid("user", username.lowercased(), tenantID)
        // Personal accounts have a 64-bit ID, written as a GUID with zeros in front.
        return tenantID == PersonalTenant.id ? "00000000-0000-0000" + id.dropFirst(18) : id
    }

    /// The pairwise subject: one user, one app, one tenant.
    func subject(of username: String, clientID: String, tenantID: String) -> String {
        base64URL(digest(["subject", username.lowercased(), clientID, tenantID]))
    }

    func user(username: String) -> User {
        let domain = username.split(separator: "@").last.map(String.init) ?? "contoso.example"
        let tenantID = tenantID(domain: domain)
        return User(
            username: username, homeTenantID: tenantID, objectID: objectID(of: username, in: tenantID))
    }

    private func digest(_ words: [String]) -> [UInt8] {
        Array(SHA256.hash(data: Data(([String(seed)] + words).joined(separator: "\0").utf8)))
    }
}

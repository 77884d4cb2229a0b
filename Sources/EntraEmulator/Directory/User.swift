internal import Foundation

/// A user who can sign in.
package struct User: Sendable, Equatable {
    /// The user principal name, in its first spelling.
    package let username: String
    /// The ID of the home tenant, derived from the domain of the username.
    package let homeTenantID: String
    /// The object ID in the home tenant.
    package let objectID: String
    /// Whether sign-ins and refresh tokens of the user are refused.
    package var isDisabled = false

    /// The home account ID, `uid.utid`, that the libraries derive from `client_info`.
    package var homeAccountID: String { "\(objectID).\(homeTenantID)" }

    var isPersonal: Bool { homeTenantID == PersonalTenant.id }

    /// The display name; that of `ada.lovelace@contoso.example` is "Ada Lovelace".
    var name: String {
        username.prefix { $0 != "@" }.split { "._-".contains($0) }.map(\.capitalized).joined(separator: " ")
    }

    /// `client_info`: the IDs of the user and of the home tenant, base64url-encoded.
    var clientInfo: String { Self.clientInfo(uid: objectID, utid: homeTenantID) }

    static func clientInfo(uid: String, utid: String) -> String {
        base64URL(#"{"uid":"\#(uid)","utid":"\#(utid)"}"#.utf8)
    }

    func matches(_ username: String) -> Bool {
        self.username.lowercased() == username.lowercased()
    }
}

extension User {
    /// Whether a realm, the last segment of an authority, admits this kind of account.
    func isAdmitted(to realm: String) -> Bool {
        switch realm.lowercased() {
        case "consumers", PersonalTenant.id: isPersonal
        case "organizations": !isPersonal
        default: true
        }
    }
}

internal import Foundation

/// Somebody who can sign in.
package struct User: Sendable, Equatable {
    /// The name to sign in with, as first written.
    package let username: String
    /// Follows from the domain of the username.
    package let homeTenantID: String
    /// The object ID in the home tenant.
    package let objectID: String
    /// A disabled user cannot sign in, and refresh tokens are refused.
    package var isDisabled = false

    /// `uid.utid`, as the libraries make it of `client_info`.
    package var homeAccountID: String { "\(objectID).\(homeTenantID)" }

    var isPersonal: Bool { homeTenantID == PersonalTenant.id }

    /// A name to show: `ada.lovelace@contoso.example` is Ada Lovelace.
    var name: String {
        username.prefix { $0 != "@" }.split { "._-".contains($0) }.map(\.capitalized).joined(separator: " ")
    }

    /// `client_info`: who the user is in the home tenant.
    var clientInfo: String { Self.clientInfo(uid: objectID, utid: homeTenantID) }

    static func clientInfo(uid: String, utid: String) -> String {
        base64URL(#"{"uid":"\#(uid)","utid":"\#(utid)"}"#.utf8)
    }

    func matches(_ username: String) -> Bool {
        self.username.lowercased() == username.lowercased()
    }
}

internal import TokenModel

/// How one app stands to one account: signed in or out, and which tenant each authority led to.
package struct AccountMetadataRecord: Sendable, Equatable, Codable {
    package enum SignInState: String, Sendable, Codable {
        case signedIn = "signed_in"
        case signedOut = "signed_out"
    }

    package var clientID: String
    package var homeAccountID: String?
    package var username: String?
    package var signInState: SignInState
    /// The authority asked → the authority that answered.
    package var authorityMap: [String: String]

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case homeAccountID = "home_account_id"
        case username
        case signInState = "sign_in_state"
        case authorityMap = "authority_map"
    }

    init(owner: OwnerID, clientID: ClientID, signInState: SignInState, authorityMap: [String: String]) {
        self.clientID = clientID.text
        self.signInState = signInState
        self.authorityMap = authorityMap
        switch owner {
        case .home(let identifier): homeAccountID = identifier.text
        case .name(let name): username = name
        }
    }

    var owner: OwnerID { OwnerID(homeAccountID: homeAccountID.flatMap(HomeAccountID.init), username: username) }

    var key: String { "\(owner.key)-accountmetadata-\(clientID)".lowercased() }
}

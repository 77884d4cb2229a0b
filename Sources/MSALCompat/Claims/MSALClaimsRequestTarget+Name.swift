extension MSALClaimsRequestTarget {
    /// The target of a member of the JSON object; nil when there is none of this name.
    init?(name: String) {
        switch name {
        case "id_token": self = .idToken
        case "access_token": self = .accessToken
        default: return nil
        }
    }

    /// The member of the JSON object.
    var name: String {
        switch self {
        case .idToken: "id_token"
        case .accessToken: "access_token"
        }
    }
}

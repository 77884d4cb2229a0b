extension MSALClaimsRequestTarget {
    /// The member of the JSON object.
    var name: String {
        switch self {
        case .idToken: "id_token"
        case .accessToken: "access_token"
        }
    }
}

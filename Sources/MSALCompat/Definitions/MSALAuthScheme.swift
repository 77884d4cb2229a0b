/// How an access token is presented to the API it is for.
@nonexhaustive(warn) public enum MSALAuthScheme: UInt, Sendable {
    /// As a bearer token (RFC 6750).
    case bearer = 0
    /// With proof of possession; not supported yet.
    case pop = 1
}

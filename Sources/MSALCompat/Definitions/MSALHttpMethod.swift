/// An HTTP method (RFC 9110 section 9).
@nonexhaustive(warn) public enum MSALHttpMethod: UInt, Sendable {
    /// `GET`.
    case GET = 0
    /// `HEAD`.
    case HEAD = 1
    /// `POST`.
    case POST = 2
    /// `PUT`.
    case PUT = 3
    /// `DELETE`.
    case DELETE = 4
    /// `CONNECT`.
    case CONNECT = 5
    /// `OPTIONS`.
    case OPTIONS = 6
    /// `TRACE`.
    case TRACE = 7
    /// `PATCH`.
    case PATCH = 8
}

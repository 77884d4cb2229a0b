public import Foundation

/// How an access token is presented to an API.
public protocol MSALAuthenticationSchemeProtocol: NSObjectProtocol {
    /// The kind of the scheme.
    var scheme: MSALAuthScheme { get }
    /// The scheme's name in an `Authorization` header field.
    var authenticationScheme: String { get }
}

/// The bearer scheme (RFC 6750): the token alone authorizes the request.
open class MSALAuthenticationSchemeBearer: NSObject, MSALAuthenticationSchemeProtocol {
    /// Creates the bearer scheme, which has no parameters.
    public override init() {}

    /// `bearer`.
    open var scheme: MSALAuthScheme { .bearer }
    /// `Bearer`.
    open var authenticationScheme: String { "Bearer" }
}

/// How an access token is presented to an API.
@nonexhaustive(warn) public enum MSALAuthScheme: UInt, Sendable {
    /// As a bearer token (RFC 6750).
    case bearer = 0
    /// With proof of possession; not supported.
    case pop = 1
}

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

/// Returns the name of the method in HTTP, such as `GET`.
public func MSALParameterStringForHttpMethod(_ httpMethod: MSALHttpMethod) -> String! {
    String(describing: httpMethod)
}

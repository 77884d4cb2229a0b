public import Foundation

/// How an access token is presented to the API it is for.
public protocol MSALAuthenticationSchemeProtocol: NSObjectProtocol {
    /// Which scheme.
    var scheme: MSALAuthScheme { get }
    /// The scheme's name in an `Authorization` header field.
    var authenticationScheme: String { get }
}

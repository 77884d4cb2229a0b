public import Foundation

/// A bearer token (RFC 6750): whoever has it may use it.
open class MSALAuthenticationSchemeBearer: NSObject, MSALAuthenticationSchemeProtocol {
    /// A scheme.
    public override init() {}

    /// `bearer`.
    open var scheme: MSALAuthScheme { .bearer }
    /// `Bearer`.
    open var authenticationScheme: String { "Bearer" }
}

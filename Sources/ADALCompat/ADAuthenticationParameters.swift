public import Foundation
internal import TokenModel

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What is told of the parameters of a resource, or of why there are none.
public typealias ADParametersCompletion = (ADAuthenticationParameters?, ADAuthenticationError?) -> Void

/// What a resource says about who may call it: the `Bearer` challenge of its 401 response (RFC 6750 section 3).
///
/// Immutable, so that it may be used from any thread.
public final class ADAuthenticationParameters: NSObject, Sendable {
    /// The challenge's `authorization_uri`: the authority to make an `ADAuthenticationContext` of.
    public let authority: String?
    /// The challenge's `resource_id`: the resource to ask a token for; nil when it names none.
    public var resource: String? { parameters["resource_id"] }
    /// All parameters of the challenge, by name.
    public var extractedParameters: [AnyHashable: Any]? { parameters }

    private let parameters: [String: String]

    /// Reads a response's `WWW-Authenticate` header field.
    ///
    /// Nil, and the error `ERROR_SERVER_MISSING_AUTHENTICATE_HEADER` (207) when there is none, or
    /// `ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT` (208) when it names no authority.
    public convenience init?(
        from response: HTTPURLResponse, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        guard let header = response.value(forHTTPHeaderField: "WWW-Authenticate"), header.trimmedNonEmpty != nil else {
            error?.pointee = ADAuthenticationError(
                .ERROR_SERVER_MISSING_AUTHENTICATE_HEADER, "the response has no WWW-Authenticate header field")
            return nil
        }
        self.init(fromResponseAuthenticateHeader: header, error: error)
    }

    /// Reads the value of a `WWW-Authenticate` header field.
    ///
    /// Nil, and the error `ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT` (208), unless it has exactly one `Bearer` challenge,
    /// whose `authorization_uri` is a URL.
    public init?(
        fromResponseAuthenticateHeader authenticateHeader: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        guard let challenge = BearerChallenge(header: authenticateHeader),
            let authority = challenge.parameters["authorization_uri"], URLComponents(string: authority)?.host != nil
        else {
            error?.pointee = ADAuthenticationError(
                .ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT, "the WWW-Authenticate header field names no authority")
            return nil
        }
        self.authority = authority
        self.parameters = challenge.parameters
    }
}

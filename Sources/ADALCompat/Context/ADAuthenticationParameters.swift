// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

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

/// Asking the resource itself.
extension ADAuthenticationParameters {
    /// Sends a request without a token to `resourceUrl` and reads the 401 response.
    ///
    /// Calls back exactly once, on a thread of its own, with the parameters or with an error: in `NSURLErrorDomain` when
    /// there was no response within `ADAuthenticationSettings.requestTimeOut`, `ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED`
    /// (209) when its status is another, 207 or 208 when it has no readable challenge.
    @preconcurrency
    public class func parameters(
        fromResourceUrl resourceUrl: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationParameters?, ADAuthenticationError?) -> Void
    ) {
        var request = URLRequest(url: resourceUrl)
        request.timeoutInterval = TimeInterval(ADAuthenticationSettings.sharedInstance().requestTimeOut)
        let task = URLSession.shared.dataTask(with: request) { _, response, failure in
            var error: ADAuthenticationError?
            let parameters = read(response, failure, &error)
            completionBlock(parameters, error)
        }
        task.resume()
    }

    /// Sends a request without a token to `resourceUrl` and reads the 401 response.
    public class func parameters(
        fromResourceUrl resourceUrl: URL
    ) async -> (ADAuthenticationParameters?, ADAuthenticationError?) {
        await withCheckedContinuation { continuation in
            parameters(fromResourceUrl: resourceUrl) { continuation.resume(returning: ($0, $1)) }
        }
    }

    private class func read(
        _ response: URLResponse?, _ failure: (any Error)?, _ error: inout ADAuthenticationError?
    ) -> ADAuthenticationParameters? {
        if let failure {
            let failure = failure as NSError
            error = ADAuthenticationError(
                domain: failure.domain, code: failure.code, errorDetails: failure.localizedDescription,
                userInfo: failure.userInfo)
            return nil
        }
        guard let response = response as? HTTPURLResponse, response.statusCode == HTTP_UNAUTHORIZED.rawValue else {
            error = ADAuthenticationError(
                .ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED, "the resource did not answer with the status 401")
            return nil
        }
        return ADAuthenticationParameters(from: response, error: &error)
    }
}

/// The HTTP statuses that ADAL has a name for.
public struct HTTPStatusCodes: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Unauthorized (RFC 9110 section 15.5.2).
public var HTTP_UNAUTHORIZED: HTTPStatusCodes { HTTPStatusCodes(401) }

/// The parameters of the one `Bearer` challenge in a `WWW-Authenticate` header field (RFC 9110 section 11.6.1, RFC 6750 section 3).
struct BearerChallenge {
    /// By name, as received; quoted values only, as Entra and its kin send them.
    let parameters: [String: String]

    /// Nil unless there is exactly one `Bearer` challenge and it has a parameter.
    init?(header: String) {
        let items = Self.items(of: header)
        guard !items.contains(where: { $0.trimmedNonEmpty == nil }) else { return nil }
        let starts = items.indices.compactMap { index in Self.afterScheme(items[index]).map { (index, $0) } }
        guard starts.count == 1, let (index, first) = starts.first else { return nil }
        // What follows is the same challenge's as long as it reads as a parameter.
        let texts = [first] + items[(index + 1)...].map { $0[...] }
        let pairs = texts.lazy.map(Self.parameter).prefix { $0 != nil }.compactMap { $0 }
        parameters = Dictionary(Array(pairs), uniquingKeysWith: { _, last in last })
        guard !parameters.isEmpty else { return nil }
    }

    /// The parts between commas; a comma in quotes parts nothing.
    private static func items(of header: String) -> [String] {
        var (items, isQuoted) = ([""], false)
        for character in header {
            if character == "\"" { isQuoted.toggle() }
            if character == "," && !isQuoted {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items
    }

    /// What follows `Bearer` in an item that starts a challenge of that scheme with a parameter.
    private static func afterScheme(_ item: String) -> Substring? {
        guard let scheme = item.prefixMatch(of: /\s*bearer\s+/.ignoresCase()) else { return nil }
        let rest = item[scheme.range.upperBound...]
        return parameter(rest) == nil ? nil : rest
    }

    private static func parameter(_ text: Substring) -> (String, String)? {
        guard let match = text.prefixMatch(of: /\s*([^,\s="]+)\s*=\s*"([^"]+)"/) else { return nil }
        return (String(match.1), String(match.2))
    }
}

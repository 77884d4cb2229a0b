// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

internal import Dispatch
public import Foundation
internal import Synchronization
internal import TokenModel

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Called with the parameters of a resource, or with an error.
public typealias ADParametersCompletion = (ADAuthenticationParameters?, ADAuthenticationError?) -> Void

/// The parameters of the `Bearer` challenge in the 401 response of a resource (RFC 6750 section 3).
///
/// Immutable; may be used from any thread.
public final class ADAuthenticationParameters: NSObject, Sendable {
    /// The parameter `authorization_uri`: the authority for an `ADAuthenticationContext`.
    public let authority: String?
    /// The parameter `resource_id`: the resource to request a token for; nil without it.
    public var resource: String? { parameters["resource_id"] }
    /// All parameters of the challenge, by name.
    public var extractedParameters: [AnyHashable: Any]? { parameters }

    private let parameters: [String: String]

    /// Reads the `WWW-Authenticate` header field of a response.
    ///
    /// Returns nil, with the error `ERROR_SERVER_MISSING_AUTHENTICATE_HEADER` (207) if the response has none, or
    /// `ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT` (208) if the field names no authority.
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
    /// Returns nil, with the error `ERROR_SERVER_AUTHENTICATE_HEADER_BAD_FORMAT` (208), unless it has exactly one
    /// `Bearer` challenge, whose `authorization_uri` is a URL.
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

/// Requests to a resource for its challenge.
extension ADAuthenticationParameters {
    /// Sends a request without a token to `resourceUrl` and reads the challenge of its response.
    ///
    /// Calls the block exactly once, on a background thread, with the parameters or with an error: in
    /// `NSURLErrorDomain` if there is no response within `ADAuthenticationSettings.requestTimeOut`,
    /// `ERROR_SERVER_UNAUTHORIZED_CODE_EXPECTED` (209) if its status is not 401, 207 or 208 if it has no readable
    /// challenge.
    @preconcurrency
    public class func parameters(
        fromResourceUrl resourceUrl: URL,
        completionBlock: @escaping @Sendable (ADAuthenticationParameters?, ADAuthenticationError?) -> Void
    ) {
        task(resourceUrl, completionBlock).resume()
    }

    /// Sends a request without a token to `resourceUrl` and reads the challenge of its response.
    ///
    /// Returns parameters or an error, as the form with a block does. Cancelling the task ends the wait, with `NSURLErrorCancelled` of
    /// `NSURLErrorDomain`.
    public class func parameters(
        fromResourceUrl resourceUrl: URL
    ) async -> (ADAuthenticationParameters?, ADAuthenticationError?) {
        let request = CancellableRequest()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                request.start(task(resourceUrl) { continuation.resume(returning: ($0, $1)) })
            }
        } onCancel: {
            request.cancel()
        }
    }

    /// Makes a request that has not started, and whose end calls the block.
    private class func task(
        _ resourceUrl: URL,
        _ completionBlock: @escaping @Sendable (ADAuthenticationParameters?, ADAuthenticationError?) -> Void
    ) -> URLSessionDataTask {
        var request = URLRequest(url: resourceUrl)
        request.timeoutInterval = TimeInterval(ADAuthenticationSettings.sharedInstance().requestTimeOut)
        return URLSession.shared.dataTask(with: request) { _, response, failure in
            var error: ADAuthenticationError?
            let parameters = read(response, failure, &error)
            // Outside of the session's queue, which handles one response of the process at a time: a block that waits for another request
            // would wait for ever.
            DispatchQueue.global().async { [error] in completionBlock(parameters, error) }
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

/// A request that may be cancelled before it starts, as by a task that was cancelled before.
private final class CancellableRequest: Sendable {
    private struct State {
        var task: URLSessionDataTask?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Starts the request, which ends at once if it is cancelled already.
    func start(_ task: URLSessionDataTask) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        task.resume()
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}

/// The HTTP status codes that ADAL names.
public struct HTTPStatusCodes: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Unauthorized (RFC 9110 section 15.5.2).
public var HTTP_UNAUTHORIZED: HTTPStatusCodes { HTTPStatusCodes(401) }

/// The parameters of the only `Bearer` challenge in a `WWW-Authenticate` header field (RFC 9110 section 11.6.1, RFC
/// 6750 section 3).
struct BearerChallenge {
    /// The values by name, as received. Only quoted values are read, which is what Entra and AD FS send; empty ones are left out.
    let parameters: [String: String]

    /// Returns nil unless there is exactly one `Bearer` challenge and it has a parameter; nil also for a text that takes long to compare.
    init?(header: String) {
        guard !CombiningCharacters.areExcessive(in: header) else { return nil }
        let items = Self.items(of: header)
        guard !items.contains(where: { $0.trimmedNonEmpty == nil }) else { return nil }
        let starts = items.indices.compactMap { index in Self.afterScheme(items[index]).map { (index, $0) } }
        guard starts.count == 1, let (index, first) = starts.first else { return nil }
        // The items that follow belong to the same challenge as long as they are parameters.
        let texts = [first] + items[(index + 1)...].map { $0[...] }
        let pairs = texts.lazy.map(Self.parameters).prefix { !$0.isEmpty }.flatMap(\.self).filter { !$0.1.isEmpty }
        parameters = Dictionary(Array(pairs), uniquingKeysWith: { _, last in last })
        guard !parameters.isEmpty else { return nil }
    }

    /// Splits the field at the commas that are not in quotes.
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

    /// Returns what follows `Bearer` if the item starts a challenge of that scheme with a parameter.
    private static func afterScheme(_ item: String) -> Substring? {
        guard let scheme = item.prefixMatch(of: /\s*bearer\s+/.ignoresCase()) else { return nil }
        let rest = item[scheme.range.upperBound...]
        return parameters(rest).isEmpty ? nil : rest
    }

    /// Returns the parameters of an item, several if the comma between them is missing; none unless the item begins with one.
    ///
    /// In linear time, since the header field may be a hostile server's.
    private static func parameters(_ item: Substring) -> [(String, String)] {
        var (found, rest) = ([(String, String)](), item.drop(while: \.isWhitespace))
        while !rest.isEmpty {
            let name = rest.prefix { !$0.isWhitespace && $0 != "," && $0 != "=" && $0 != "\"" }
            let equals = rest[name.endIndex...].drop(while: \.isWhitespace)
            let value = equals.dropFirst().drop(while: \.isWhitespace)
            if !name.isEmpty, equals.first == "=", value.first == "\"" {
                guard let end = value.dropFirst().firstIndex(of: "\"") else { break }
                found.append((String(name), String(value.dropFirst()[..<end])))
                rest = value[end...].dropFirst()
            } else if found.isEmpty {
                return []
            } else {
                // What is between two parameters is skipped.
                rest = name.isEmpty ? rest.dropFirst() : equals
            }
            rest = rest.drop(while: \.isWhitespace)
        }
        return found
    }
}

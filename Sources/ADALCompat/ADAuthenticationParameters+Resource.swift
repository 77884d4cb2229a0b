public import Foundation
internal import TokenModel

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

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

public import Foundation

/// Why an ADAL call failed.
///
/// `domain` says who is speaking and so what `code` means: an `ADErrorCode` in `ADAuthenticationErrorDomain` and
/// `ADOAuthServerErrorDomain`, the HTTP status in `ADHTTPErrorCodeDomain`, a Foundation code in `NSURLErrorDomain`.
/// Immutable, so that it may be used from any thread; `Sendable` is unchecked because NSError's is.
public final class ADAuthenticationError: NSError, @unchecked Sendable {
    /// The `error` of the OAuth error response (RFC 6749 section 5.2); nil when there was none.
    public let protocolCode: String?
    /// What went wrong, in a sentence for a log; never a token.
    public let errorDetails: String?

    package init(
        domain: String, code: Int, protocolCode: String? = nil, errorDetails: String?, userInfo: [String: Any] = [:]
    ) {
        self.protocolCode = protocolCode
        self.errorDetails = errorDetails
        super.init(domain: domain, code: code, userInfo: userInfo)
    }

    /// Reads an archived error.
    public required init?(coder: NSCoder) {
        protocolCode = coder.text(forKey: "protocolCode")
        errorDetails = coder.text(forKey: "errorDetails")
        super.init(coder: coder)
    }

    /// Archives the error.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(protocolCode.map { $0 as NSString }, forKey: "protocolCode")
        coder.encode(errorDetails.map { $0 as NSString }, forKey: "errorDetails")
    }

    /// `errorDetails` where there are any.
    public override var localizedDescription: String { errorDetails ?? super.localizedDescription }

    /// Domain, code and details on one line.
    public override var description: String {
        let server = protocolCode.map { ", protocol code \($0)" } ?? ""
        return "\(domain) \(code)\(server): \(errorDetails ?? "no details")"
    }
}

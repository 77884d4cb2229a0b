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

    /// Code, domain, protocol code and details in ADAL's layout, then what `NSError` says; `(null)` stands for what is nil.
    public override var description: String {
        "Error with code: \(codeName) Domain: \(domain) ProtocolCode:\(protocolCode ?? "(null)") "
            + "Details:\(errorDetails ?? "(null)"). Inner error details: \(super.description)"
    }

    /// The code as ADAL writes it: by name where it is an `ADErrorCode`, which a few are not given, else as a number.
    private var codeName: String {
        let hasNames = [ADAuthenticationErrorDomain, ADBrokerResponseErrorDomain, ADOAuthServerErrorDomain]
        guard hasNames.contains(domain), let name = ADErrorCode(rawValue: code), !Self.unnamed.contains(name) else {
            return String(code)
        }
        return "AD_\(name)"
    }

    /// The codes that ADAL's description has no name for.
    private static let unnamed: Set<ADErrorCode> = [
        .ERROR_SERVER_INVALID_RESPONSE, .ERROR_TOKENBROKER_NOT_A_BROKER_RESPONSE, .ERROR_TOKENBROKER_NO_RESUME_STATE,
        .ERROR_TOKENBROKER_BAD_RESUME_STATE, .ERROR_TOKENBROKER_MISMATCHED_RESUME_STATE,
        .ERROR_TOKENBROKER_HASH_MISSING, .ERROR_TOKENBROKER_NOT_SUPPORTED_IN_EXTENSION,
    ]
}

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

/// The errors that are decided here, before anything is asked of the agent.
extension ADAuthenticationError {
    /// An error of the library itself.
    convenience init(_ code: ADErrorCode, _ details: String, userInfo: [String: Any] = [:]) {
        self.init(
            domain: ADAuthenticationErrorDomain, code: code.rawValue, errorDetails: details, userInfo: userInfo)
    }

    /// The app passed something that cannot work (100).
    static func invalidArgument(_ details: String) -> ADAuthenticationError {
        ADAuthenticationError(.ERROR_DEVELOPER_INVALID_ARGUMENT, details)
    }

    /// Does `work`; when it fails, returns nil and puts the reason where the app wants it.
    static func report<Value>(
        _ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?,
        _ work: () throws(ADAuthenticationError) -> Value
    ) -> Value? {
        do throws(ADAuthenticationError) {
            return try work()
        } catch let failure {
            error?.pointee = failure
            return nil
        }
    }

    /// Whether the sign-in was given up, which makes the result's status `AD_USER_CANCELLED`.
    var isCancellation: Bool {
        domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_UI_USER_CANCEL.rawValue
    }

    /// Whether the sign-in page is worth showing: nothing else is left, or the server itself said no.
    var invitesInteraction: Bool {
        protocolCode != nil
            || domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue
    }
}

#if !canImport(ObjectiveC)
    /// Where ADAL's methods put their error: pass `nil`, or `&error` of a `var error: ADAuthenticationError?`.
    ///
    /// Apple's systems have a type of this name in the standard library.
    public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
#endif

public import Foundation
internal import TokenModel

// Unchecked because the conformance of `NSError` is; the properties added here are constants of Sendable types.
/// The error of an ADAL request.
///
/// The meaning of `code` depends on `domain`: an `ADErrorCode` in `ADAuthenticationErrorDomain` and
/// `ADOAuthServerErrorDomain`, the HTTP status in `ADHTTPErrorCodeDomain`, a Foundation code in `NSURLErrorDomain`.
/// Immutable; may be used from any thread.
public final class ADAuthenticationError: NSError, @unchecked Sendable {
    /// The `error` of the OAuth error response (RFC 6749 section 5.2); nil if there was none, and if a silent request requires a
    /// sign-in (200), whose underlying error has it.
    public let protocolCode: String?
    /// A description for logs; never a token.
    public let errorDetails: String?

    package init(
        domain: String, code: Int, protocolCode: String? = nil, errorDetails: String?, userInfo: [String: Any] = [:]
    ) {
        self.protocolCode = protocolCode
        self.errorDetails = errorDetails
        super.init(domain: domain, code: code, userInfo: userInfo)
    }

    /// Decodes an archived error.
    public required init?(coder: NSCoder) {
        protocolCode = coder.text(forKey: "protocolCode")
        errorDetails = coder.text(forKey: "errorDetails")
        super.init(coder: coder)
    }

    /// Encodes the error, without a `TokenError` under `NSUnderlyingErrorKey`: archives hold objects only.
    public override func encode(with coder: NSCoder) {
        let objects = userInfo.filter { !($0.value is TokenError) }
        NSError(domain: domain, code: code, userInfo: objects).encode(with: coder)
        coder.encode(protocolCode.map { $0 as NSString }, forKey: "protocolCode")
        coder.encode(errorDetails.map { $0 as NSString }, forKey: "errorDetails")
    }

    /// Equal for equal errors. That of Foundation traps on Linux, also when an error is archived.
    public override var hash: Int { domain.hashValue ^ code }

    /// `errorDetails` if there are any.
    public override var localizedDescription: String { errorDetails ?? super.localizedDescription }

    /// Code, domain, protocol code and details in ADAL's layout, followed by the description of `NSError`; `(null)`
    /// stands for nil.
    public override var description: String {
        "Error with code: \(codeName) Domain: \(domain) ProtocolCode:\(protocolCode ?? "(null)") "
            + "Details:\(errorDetails ?? "(null)"). Inner error details: \(super.description)"
    }

    /// The code as ADAL writes it: the name of the `ADErrorCode`, or a number if ADAL has no name for it.
    private var codeName: String {
        let hasNames = [ADAuthenticationErrorDomain, ADBrokerResponseErrorDomain, ADOAuthServerErrorDomain]
        guard hasNames.contains(domain), let name = ADErrorCode(rawValue: code), !Self.unnamed.contains(name) else {
            return String(code)
        }
        return "AD_\(name)"
    }

    /// The codes that ADAL's description writes as numbers.
    private static let unnamed: Set<ADErrorCode> = [
        .ERROR_SERVER_INVALID_RESPONSE, .ERROR_TOKENBROKER_NOT_A_BROKER_RESPONSE, .ERROR_TOKENBROKER_NO_RESUME_STATE,
        .ERROR_TOKENBROKER_BAD_RESUME_STATE, .ERROR_TOKENBROKER_MISMATCHED_RESUME_STATE,
        .ERROR_TOKENBROKER_HASH_MISSING, .ERROR_TOKENBROKER_NOT_SUPPORTED_IN_EXTENSION,
    ]
}

/// Errors that the library itself finds, before a request is sent.
extension ADAuthenticationError {
    /// Creates an error of `ADAuthenticationErrorDomain`.
    convenience init(_ code: ADErrorCode, _ details: String, userInfo: [String: Any] = [:]) {
        self.init(
            domain: ADAuthenticationErrorDomain, code: code.rawValue, errorDetails: details, userInfo: userInfo)
    }

    /// An argument of the app is not valid (100).
    static func invalidArgument(_ details: String) -> ADAuthenticationError {
        ADAuthenticationError(.ERROR_DEVELOPER_INVALID_ARGUMENT, details)
    }

    /// Runs `work`; if it throws, stores the error in `error` and returns nil.
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

    /// Whether the sign-in was cancelled, which gives the result the status `AD_USER_CANCELLED`.
    var isCancellation: Bool {
        domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_UI_USER_CANCEL.rawValue
    }

    /// Whether another user signed in than the one requested.
    var isOfAnotherUser: Bool {
        domain == ADAuthenticationErrorDomain && code == ADErrorCode.ERROR_SERVER_WRONG_USER.rawValue
    }

    /// Whether a sign-in may help: user interaction is required, or the server rejected the request. An authority that instance discovery
    /// does not know (101) is none for a sign-in either.
    var invitesInteraction: Bool {
        guard domain == ADAuthenticationErrorDomain else { return protocolCode != nil }
        return code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue
    }
}

#if !canImport(ObjectiveC)
    /// The type of ADAL's error parameters: pass `nil`, or `&error` of a `var error: ADAuthenticationError?`.
    ///
    /// Apple's standard library has a type of this name.
    public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
#endif

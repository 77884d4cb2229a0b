internal import Foundation
internal import TokenModel

/// The lines about calls in the log of the app, as in MSAL: information about the course of a call, and an error for each call that fails.
///
/// They name a call as its method is named, and an error by its codes only, because its message may contain personal data.
enum CallLog {
    /// Logs that a request for a token begins.
    static func begins(_ name: String, _ correlationID: CorrelationID) {
        MSALGlobalConfig.loggerConfig.log(.info, "\(name) begins, correlation ID \(correlationID)")
    }

    /// Logs that a request for a token has one.
    static func hasToken(_ name: String, _ correlationID: CorrelationID) {
        MSALGlobalConfig.loggerConfig.log(.info, "\(name) has a token, correlation ID \(correlationID)")
    }

    /// Logs that an account has been removed.
    static func removed(_ name: String) {
        MSALGlobalConfig.loggerConfig.log(.info, "\(name) has removed the account")
    }

    /// Logs an error of the agent, or of the connection to it. That of a cancelled task is information.
    static func failed(_ name: String, _ code: TokenError.Code, _ correlationID: CorrelationID? = nil) {
        let request = correlationID.map { ", correlation ID \($0)" } ?? ""
        MSALGlobalConfig.loggerConfig.log(
            code == .cancelled ? .info : .error, "\(name) failed with \(code.name)\(request)")
    }

    /// Logs the error with which this module refuses a call, if it does, before anything is sent to the agent.
    static func refusals<Value>(of name: String, _ check: () throws(NSError) -> Value) throws(NSError) -> Value {
        do throws(NSError) { return try check() } catch { throw failed(name, error) }
    }

    /// Logs an error that this module has found, without a request to the agent.
    ///
    /// - Returns: the error.
    static func failed(_ name: String, _ error: NSError) -> NSError {
        let (code, correlationID) = (error.userInfo[MSALInternalErrorCodeKey], error.userInfo[MSALCorrelationIDKey])
        let inner = (code as? Int).map { ", internal code \($0)" } ?? ""
        let request = (correlationID as? String).map { ", correlation ID \($0.lowercased())" } ?? ""
        MSALGlobalConfig.loggerConfig.log(.error, "\(name) failed with \(error.code)\(inner)\(request)")
        return error
    }
}

internal import Foundation

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

internal import CompatSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ADALCompat

/// The texts that apps log and match: descriptions of errors, and log lines.
@Suite(.bounded) struct ADALErrorDescriptionTests {
    @Test(
        arguments: [
            (
                ADAuthenticationError(.ERROR_SERVER_USER_INPUT_NEEDED, "sign in"),
                "Error with code: AD_ERROR_SERVER_USER_INPUT_NEEDED Domain: ADAuthenticationErrorDomain "
                    + "ProtocolCode:(null) Details:sign in. Inner error details: "
            ),
            (
                ADAuthenticationError(
                    domain: ADOAuthServerErrorDomain, code: 202, protocolCode: "invalid_scope", errorDetails: "no"),
                "Error with code: AD_ERROR_SERVER_OAUTH Domain: ADOAuthServerErrorDomain ProtocolCode:invalid_scope "
                    + "Details:no. Inner error details: "
            ),
            (
                ADAuthenticationError(domain: ADHTTPErrorCodeDomain, code: 503, errorDetails: nil),
                "Error with code: 503 Domain: ADHTTPErrorCodeDomain ProtocolCode:(null) Details:(null). "
            ),
            // Mirrors: ADAuthenticationErrorTests
            //   testErrorFromAuthenticationError_whenErrorValidCodeValidErrorDetailsValid…_shouldReturnErrorWithDescription
            (
                ADAuthenticationError(
                    domain: ADAuthenticationErrorDomain, code: 42, protocolCode: "some-protocol-code",
                    errorDetails: "Some details"),
                "Error with code: 42 Domain: ADAuthenticationErrorDomain ProtocolCode:some-protocol-code "
                    + "Details:Some details. Inner error details: Error Domain=ADAuthenticationErrorDomain Code=42 "
                    + "\"(null)\""
            ),
            // Numbers that ADAL's description gives no name.
            (
                ADAuthenticationError(domain: ADOAuthServerErrorDomain, code: 212, errorDetails: "x"),
                "Error with code: 212 Domain: ADOAuthServerErrorDomain "
            ),
            (
                ADAuthenticationError(domain: ADAuthenticationErrorDomain, code: 999, errorDetails: "x"),
                "Error with code: 999 Domain: ADAuthenticationErrorDomain "
            ),
        ] as [(ADAuthenticationError, String)])
    func describesAnErrorInADALsLayout(error: ADAuthenticationError, start: String) {
        #expect(error.description.hasPrefix(start), "\(error.description)")
        #expect("\(error)" == error.description)
        #expect(error.description.contains("Code=\(error.code)"))
    }

    @Test func archivesAnErrorOfTheAgent() throws {
        let error = ADAuthenticationError(TokenError(.agentUnavailable, "no agent is running"))
        #expect(error.userInfo[NSUnderlyingErrorKey] is TokenError)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: error, requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: ADAuthenticationError.self, from: archive))
        #expect(read.domain == ADAuthenticationErrorDomain && read.code == -1)
        #expect(read.errorDetails == "no agent is running" && read.protocolCode == nil)
    }

    @Test func archivesAnErrorWithTheErrorOfTheServer() throws {
        var refusal = TokenError(.invalidGrant, "the refresh token was revoked")
        refusal.details.oauthError = "invalid_grant"
        refusal.details.subError = "bad_token"
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ADAuthenticationError.silent(refusal), requiringSecureCoding: true)
        let read = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: ADAuthenticationError.self, from: archive))
        #expect(read.userInfo[ADSuberrorKey] as? String == "bad_token")
        #expect((read.userInfo[NSUnderlyingErrorKey] as? ADAuthenticationError)?.protocolCode == "invalid_grant")
    }

    @Test func hasOneHashForEqualErrors() {
        let errors: Set = [ADAuthenticationError.invalidArgument("blank"), .invalidArgument("blank")]
        #expect(errors.count == 1)
    }

    // Mirrors: ADLoggerTests testLog_whenBothCallbacksSet_shouldCallNewOne,
    //   testLog_whenPiiEnabled_andOldCallback_andLogPii_shouldReturnAdditionalMessageInCallback
    @Test func callsTheNewerCallbackAloneWhenBothAreSet() {
        let lines = Mutex<[String]>([])
        var state = ADLogger.State()
        state.oldCallback = AppCallback { level, message, more, code, _ in
            lines.withLock { $0.append("old \(level.rawValue) \(message) \(more ?? "-") \(code)") }
        }
        state.callBack(ADAL_LOG_LEVEL_ERROR, "failed", isPii: false, code: 200)
        state.callBack(ADAL_LOG_LEVEL_INFO, "anna", isPii: true, code: 0)
        state.callback = AppCallback { level, message, isPii in
            lines.withLock { $0.append("new \(level.rawValue) \(message) \(isPii)") }
        }
        state.callBack(ADAL_LOG_LEVEL_ERROR, "failed", isPii: false, code: 200)
        #expect(lines.withLock { $0 } == ["old 1 failed - 200", "old 3 PII message anna 0", "new 1 failed false"])
    }

    @MainActor @Test func keepsAParentControllerAsLongAsTheAppDoes() throws {
        let context = try #require(ADAuthenticationContext(authority: "https://login.windows.net/common", error: nil))
        var controller: UIViewController? = UIViewController()
        context.parentController = controller
        #expect(context.parentController === controller)
        controller = nil
        #expect(context.parentController == nil)
    }
}

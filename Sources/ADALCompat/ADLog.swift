internal import Foundation
internal import Synchronization
internal import TokenModel

/// The log lines of one request.
struct ADLog: Sendable {
    let component: String?
    let correlationID: CorrelationID

    func began(_ request: TokenRequest) {
        let kind = request.prompt == nil && request.grant == nil ? "acquireTokenSilent" : "acquireToken"
        write(ADAL_LOG_LEVEL_INFO, "\(kind) began")
        let target = request.target
        write(
            ADAL_LOG_LEVEL_INFO, isPii: true,
            "\(kind) of \(request.identifier?.userId ?? "whoever is signed in") for \(target.resource)")
    }

    func succeeded(_ token: TokenResult) {
        write(ADAL_LOG_LEVEL_INFO, "succeeded, \(token.isFromCache ? "from the cache" : "redeemed")")
    }

    /// Logs the redirect URI of a sign-in page, which has to be registered with the identity provider.
    func opens(_ redirect: BrowserRedirect) {
        write(redirect.replaced == nil ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_WARN, redirect.notice)
    }

    func failed(_ error: ADAuthenticationError) {
        let server = error.protocolCode.map { ", \($0)" } ?? ""
        // A person who has to sign in, or would not, is no fault.
        let isExpected = error.isCancellation || error.invitesInteraction
        let level = isExpected ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_ERROR
        write(level, "failed: \(error.domain) \(error.code)\(server)", code: error.code)
    }

    private func write(_ level: ADAL_LOG_LEVEL, isPii: Bool = false, _ text: String, code: Int = 0) {
        let state = ADLogger.state.withLock { $0 }
        guard level.rawValue <= state.level.rawValue, !isPii || state.isPiiEnabled else { return }
        let message = "ADAL [\(correlationID)]\(component.map { " \($0)" } ?? "") \(text)"
        // Called outside the lock: a callback may change the settings it is called by.
        state.callBack(level, message, isPii: isPii, code: code)
        if state.isWritten, !isPii { NSLog("%@", message) }
    }
}

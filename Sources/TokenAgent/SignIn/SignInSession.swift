internal import NIOCore
internal import TokenEndpoint
internal import TokenModel

/// A sign-in that waits for a person.
struct SignInSession {
    /// How the person answers.
    enum Method: Sendable {
        case browser(BeginInteractive, LoopbackRedirect, PKCE, state: String, nonce: String)
        case deviceCode(BeginDeviceCode, DeviceCodeGrant)
    }

    let method: Method
    /// Ends the session when nobody answers in time.
    var expiry: Timers.Timer
    /// Completes when the session ends: the pause between two polls of a device code is cut short.
    let ended: EventLoopPromise<Void>
    /// Whether an app waits for the result.
    var isAwaited = false
    /// Why the session ended, once it has; the app that waits reports it.
    var ending: TokenError?

    /// Stops listening for an answer.
    func close() {
        expiry.cancel()
        ended.succeed()
        if case .browser(_, let redirect, _, _, _) = method { redirect.close() }
    }
}

internal import NIOCore
internal import TokenEndpoint
internal import TokenModel

/// A sign-in that waits for a person.
struct Interaction: Sendable {
    /// How the person answers.
    enum Way: Sendable {
        case browser(BeginInteractive, LoopbackRedirect, PKCE, state: String, nonce: String)
        case deviceCode(BeginDeviceCode, DeviceCodeGrant)
    }

    var way: Way
    /// Ends the wait when nobody comes.
    var expiry: Timers.Timer
    /// Completes when a device code is to be asked about again, or when the sign-in ends.
    var pause: EventLoopPromise<Void>?
    /// Whether an app waits for it to end.
    var isAwaited = false
    /// Why it ended, once it has; the wait reports it.
    var ending: TokenError?

    /// Stops listening for an answer.
    func close() {
        expiry.cancel()
        pause?.succeed()
        if case .browser(_, let redirect, _, _, _) = way { redirect.close() }
    }

    /// How long an agent waits for somebody to come back from the browser, in seconds.
    static let browserLifetime: Int64 = 900

    /// More sign-ins at a time than people can finish; each has a listener of its own.
    static let limit = 64

    static let tooMany = TokenError(
        .interactionInProgress, "\(limit) sign-ins are under way already; finish or cancel one of them")
    static let awaited = TokenError(.interactionInProgress, "another call waits for this sign-in already")
    static let unknown = TokenError(
        .sessionCanceled, "there is no such sign-in; it was finished, cancelled or has expired")
    static let cancelled = TokenError(.sessionCanceled, "the sign-in was cancelled")
    static let expired = TokenError(.timedOut, "nobody finished the sign-in in time; start it again")
}

internal import NIOCore
internal import TokenEndpoint
internal import TokenModel

/// A sign-in that waits for a person.
struct Interaction: Sendable {
    /// How the person answers.
    enum Way: Sendable {
        case browser(BeginInteractive, LoopbackRedirect, PKCE, state: String, nonce: String)
        case deviceCode(BeginDeviceCode, DeviceCodeGrant)

        /// The error of a sign-in that nobody finishes in time. A redirect URI that is not registered is a likely reason: the
        /// identity provider says so on its page only, and does not redirect the browser.
        var expired: TokenError {
            guard case .browser(let begun, let redirect, _, _, _) = self else { return Interaction.expired }
            let target = BrowserRedirect(begun.parameters.redirectURI)
            let own = target.replaced.map { "; the app's own, \($0), cannot be used on this system" } ?? ""
            return TokenError(
                .timedOut,
                "no response from the sign-in page arrived at \(redirect.redirectURI) within "
                    + "\(Interaction.browserLifetime) seconds. If the page showed AADSTS50011, \(target.remedy)\(own). "
                    + "Then start the sign-in again")
        }
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

    /// How long an agent waits for the browser's response, in seconds: the lifetime of Entra's authorization codes.
    static let browserLifetime: Int64 = 600

    /// How long the error of an expired sign-in is kept for a `complete_interactive` that has not arrived yet, in seconds.
    static let expiredRetention: Int64 = 60

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

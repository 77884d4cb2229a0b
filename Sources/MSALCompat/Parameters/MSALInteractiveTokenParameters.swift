/// A request that lets the person sign in, in the system browser or, without a display, with a device code.
open class MSALInteractiveTokenParameters: MSALTokenParameters {
    /// What the page asks the person.
    open var promptType = MSALPromptType.default
    /// The name to fill in, for a request without an account; an account's own name goes first.
    open var loginHint: String?
    /// The organisation to sign in with, which may skip a page.
    open var domainHint: String?
    /// Permissions to consent to now and ask for later.
    open var extraScopesToConsent: [String]?
    /// How the page is shown: a copy of what the initialiser was given.
    public let webviewParameters: MSALWebviewParameters
    /// Inert: the page decides.
    open var preferredAuthMethod = MSALPreferredAuthMethod.none

    /// Asks for a token for `scopes`. `webviewParameters` are copied.
    public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
        self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
        super.init(scopes: scopes)
    }
}

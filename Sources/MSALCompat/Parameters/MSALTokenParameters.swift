public import Dispatch
public import Foundation

/// What is asked for, and from whom.
open class MSALTokenParameters: MSALParameters {
    /// The permissions asked for. `openid`, `profile` and `offline_access` are always asked for and may not be named.
    open var scopes: [String]
    /// Whose token. A silent request needs it.
    open var account: MSALAccount?
    /// Who is to issue the token; nil takes the application's. Has to be of the same class as the application's.
    open var authority: MSALAuthority?
    /// Claims to ask for. A silent request with claims passes over the cached token.
    open var claimsRequest: MSALClaimsRequest?
    /// More query parameters for the authorization endpoint, and form parameters for the token endpoint.
    open var extraQueryParameters: [String: String]?
    /// Joins the logs of app, agent and token endpoint; nil makes one. The result carries it.
    open var correlationId: UUID?
    /// How the token is presented; a bearer token unless set.
    open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)?

    /// Asks for `scopes`.
    public init(scopes: [String]) {
        self.scopes = scopes
        self.authenticationScheme = MSALAuthenticationSchemeBearer()
    }
}

/// What every request has.
open class MSALParameters: NSObject {
    /// Where to call the completion block. Nil: interactive requests and sign-outs call it on the main thread, silent requests
    /// on any, and what asks for accounts or the device on the calling thread, before the method returns.
    open var completionBlockQueue: DispatchQueue?

    /// Parameters without a queue.
    public override init() {}
}

/// A request that bothers nobody: a cached token, or a refreshed one.
open class MSALSilentTokenParameters: MSALTokenParameters {
    /// Whether to pass over a cached access token. False unless set.
    open var forceRefresh = false
    /// Inert: concerns Apple's SSO extension.
    open var allowUsingLocalCachedRtWhenSsoExtFailed = true

    /// Asks for a token of `account` for `scopes`.
    public init(scopes: [String], account: MSALAccount) {
        super.init(scopes: scopes)
        self.account = account
    }
}

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

/// What the sign-in page asks the person (the `prompt` parameter, OpenID Connect Core 1.0 section 3.1.2.1).
@nonexhaustive(warn) public enum MSALPromptType: UInt, Sendable {
    /// Which account to use: `select_account`.
    case selectAccount = 0
    /// To sign in again: `login`.
    case login = 1
    /// To consent again: `consent`.
    case consent = 2
    /// To make an account: `create`.
    case create = 3
    /// Only what is needed; no `prompt` is sent.
    case promptIfNecessary = 4

    /// What is used when the app says nothing: `promptIfNecessary`.
    public static var `default`: MSALPromptType { .promptIfNecessary }
}

extension MSALPromptType {
    /// The `prompt` parameter; nil sends none.
    var parameter: String? {
        switch self {
        case .selectAccount: "select_account"
        case .login: "login"
        case .consent: "consent"
        case .create: "create"
        case .promptIfNecessary: nil
        }
    }
}

public import Dispatch
public import Foundation

/// The parameters of a token request. A value that is refused before the agent is asked, such as a reserved scope, fails
/// the request with `MSALError.internal` (-50000), internal code -42000.
open class MSALTokenParameters: MSALParameters {
    /// The scopes to request. `openid`, `profile` and `offline_access` are always requested and must not be included. A text
    /// with spaces names several scopes.
    open var scopes: [String]
    /// The account to acquire a token for. Required for a silent request. If it is set in a sign-in, and another account
    /// signs in, the request fails with internal code -42101.
    open var account: MSALAccount?
    /// The authority to request the token from; nil takes the application's. Must be of the same kind as the
    /// application's.
    open var authority: MSALAuthority?
    /// The claims to request; `extraQueryParameters` must not have claims too. A silent request with claims bypasses the
    /// cached token.
    open var claimsRequest: MSALClaimsRequest?
    /// Additional query parameters for the authorization endpoint, and form parameters for the token endpoint.
    ///
    /// `login_hint`, `domain_hint` and `pc` take precedence over the other properties. Another parameter that the agent sends itself, such
    /// as `scope`, is ignored.
    open var extraQueryParameters: [String: String]?
    /// The correlation ID, which app, agent and token endpoint log; nil creates one. The result has it too.
    open var correlationId: UUID?
    /// How the token is presented to an API: as a bearer token by default, and if nil. No other scheme is supported.
    open var authenticationScheme: (any MSALAuthenticationSchemeProtocol)?

    /// Creates parameters that request `scopes`.
    public init(scopes: [String]) {
        self.scopes = scopes
        self.authenticationScheme = MSALAuthenticationSchemeBearer()
    }

    var hasBearerScheme: Bool { authenticationScheme.map { $0.scheme == .bearer } ?? true }
}

/// The parameters of every request.
open class MSALParameters: NSObject {
    /// The queue on which the completion block is called. If nil, sign-ins and sign-outs call it on the main queue,
    /// silent requests on any thread, and requests for accounts or the device on the calling thread, before the method
    /// returns.
    open var completionBlockQueue: DispatchQueue?

    /// Creates parameters without a queue.
    public override init() {}
}

/// The parameters of a request without user interaction.
open class MSALSilentTokenParameters: MSALTokenParameters {
    /// Whether to bypass the cached access token. False by default.
    open var forceRefresh = false
    /// Inert: belongs to Apple's SSO extension.
    open var allowUsingLocalCachedRtWhenSsoExtFailed = true

    /// Creates parameters that request `scopes` for `account`.
    public init(scopes: [String], account: MSALAccount) {
        super.init(scopes: scopes)
        self.account = account
    }
}

/// The parameters of a sign-in, in the system browser or, without a display, with a device code.
open class MSALInteractiveTokenParameters: MSALTokenParameters {
    /// The prompt of the sign-in page. If `account` has signed out of the app, `login` is sent instead of any other than
    /// `consent`.
    open var promptType = MSALPromptType.default
    /// The username with which the sign-in page is filled in; that of `account`, if it is set, takes precedence.
    open var loginHint: String?
    /// The domain of the organisation to sign in to, which may skip a page.
    open var domainHint: String?
    /// Scopes to consent to in this sign-in, for later requests.
    open var extraScopesToConsent: [String]?
    /// How the page is shown: a copy of the argument of the initializer.
    public let webviewParameters: MSALWebviewParameters
    /// The authentication method that the sign-in page should offer first; the page decides whether it can.
    open var preferredAuthMethod = MSALPreferredAuthMethod.none

    /// Creates parameters that request `scopes`. `webviewParameters` are copied.
    public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
        self.webviewParameters = MSALWebviewParameters(copying: webviewParameters)
        super.init(scopes: scopes)
    }
}

/// What the sign-in page asks the user for (the `prompt` parameter, OpenID Connect Core 1.0 section 3.1.2.1).
@nonexhaustive(warn) public enum MSALPromptType: UInt, Sendable {
    /// To select an account: `select_account`.
    case selectAccount = 0
    /// To sign in again: `login`.
    case login = 1
    /// To consent again: `consent`.
    case consent = 2
    /// To create an account: `create`.
    case create = 3
    /// Only for what is required; no `prompt` is sent.
    case promptIfNecessary = 4

    /// The default: `promptIfNecessary`.
    public static var `default`: MSALPromptType { .promptIfNecessary }
}

extension MSALPromptType {
    /// The value of the `prompt` parameter; nil sends none.
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

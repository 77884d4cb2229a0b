// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

package import AgentClient
// ADAL's own module exported UIKit's or AppKit's types. MSALCompat exports the same module, so that an app with both
// libraries has one `UIViewController`.
@_exported public import AppleTypes
package import CompatSupport
public import Foundation

/// Acquires tokens from one authority; the entry point of ADAL.
///
/// The agent keeps the tokens and shares them with every app of the sharing group, of ADAL and of MSAL: an account that
/// signed in with one of them is signed in here. Requests may be made from any thread, any number of them concurrently;
/// each uses the values that the properties have when it is made.
///
/// A completion block is called exactly once, on a background thread, perhaps before the method has returned. In a copy
/// (`fork`) of the process every request fails, and the method itself calls the block. A request without user interaction
/// that the agent has not answered after 90 seconds ends with `ERROR_UNEXPECTED` (-1).
open class ADAuthenticationContext: NSObject {
    /// The authority in canonical form: lower case, `https://<host>/<tenant>`, with the port if one was given.
    public let authority: String
    /// Whether the authority has to be known to Microsoft or to its domain; false if the app knows that it can be
    /// trusted.
    public var validateAuthority: Bool
    /// The correlation ID of later requests; nil creates a new one for each request.
    public var correlationId: UUID?
    /// Where the sign-in page is shown. Has no effect: it always opens in the system browser.
    public var credentialsType: ADCredentialsType = AD_CREDENTIALS_EMBEDDED
    /// The component of the app that log lines name.
    public var logComponent: String?
    /// The view controller on which ADAL for iOS presents the sign-in page. Inert: stored without a strong reference,
    /// and not used.
    open weak var parentController: UIViewController?
    /// Whether an expired token may be returned during an outage of the server, within its extended lifetime; false by
    /// default.
    public var extendedLifetimeEnabled = false
    /// The capabilities of the app, such as `cp1`; sent with each request as part of its claims.
    public var clientCapabilities: [String]?

    /// The client that sends the requests; tests set one of their own.
    package var agent = AgentClient.shared
    /// How the sign-in page is shown; nil decides by the environment at each request.
    package var presenter: SignInPresenter?
    /// The process's sign-in in progress; tests set one of their own.
    package var currentSignIn = CurrentSignIn.shared

    /// The cache whose delegate is notified of requests.
    package var tokenCache: ADTokenCache?

    let canonicalAuthority: CanonicalAuthority
    let sharingGroup: SharingGroup

    /// Creates a context in the default sharing group.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is
    /// `https://<host>/<tenant>`; what follows the tenant is ignored. `http` is accepted for loopback hosts, such as
    /// `localhost`.
    public convenience init?(
        authority: String, validateAuthority: Bool,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        let group = ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
        self.init(authority: authority, validateAuthority: validateAuthority, sharedGroup: group, error: error)
        tokenCache = .default()
    }

    /// Creates a context in the default sharing group, with a cache delegate: an app that keeps the cache's archive
    /// itself. If `delegate` is nil, no delegate is notified of the context's requests, not that of `ADTokenCache.default()` either.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is
    /// `https://<host>/<tenant>`.
    public convenience init?(
        authority: String, validateAuthority: Bool, cacheDelegate delegate: (any ADTokenCacheDelegate)?,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        self.init(authority: authority, validateAuthority: validateAuthority, error: error)
        let cache = ADTokenCache()
        cache.setDelegate(delegate)
        tokenCache = cache
    }

    /// Creates a context in the default sharing group, whose authority is validated.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is
    /// `https://<host>/<tenant>`.
    public convenience init?(authority: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) {
        self.init(authority: authority, validateAuthority: true, error: error)
    }

    /// Creates a context in the sharing group `sharedGroup`; nil is this program's own group, which no other program
    /// uses.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is
    /// `https://<host>/<tenant>`.
    public init?(
        authority: String, validateAuthority: Bool, sharedGroup: String?,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        guard let canonical = CanonicalAuthority(authority) else {
            error?.pointee = .invalidArgument("the authority has to be https://<host>/<tenant>")
            return nil
        }
        self.canonicalAuthority = canonical
        self.authority = canonical.text
        self.validateAuthority = validateAuthority
        self.sharingGroup = SharingGroup(adalName: sharedGroup)
    }

    /// Creates a context in the sharing group `sharedGroup`, whose authority is validated; nil is this program's own
    /// group.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is
    /// `https://<host>/<tenant>`.
    public convenience init?(
        authority: String, sharedGroup: String?, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        self.init(authority: authority, validateAuthority: true, sharedGroup: sharedGroup, error: error)
    }

    /// Handles the response of a broker app, and returns whether it was one. Always false: there is no broker app, and
    /// the agent itself receives the response of the browser.
    public class func handleADALResponse(_ response: URL, sourceApplication: String?) -> Bool { false }
}

/// Where the sign-in page is shown. Both values mean the system browser.
public struct ADCredentialsType: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Chosen by the library.
public var AD_CREDENTIALS_AUTO: ADCredentialsType { ADCredentialsType(0) }

/// A web view of the app on iOS and macOS; here the system browser too.
public var AD_CREDENTIALS_EMBEDDED: ADCredentialsType { ADCredentialsType(1) }

/// Controls the sign-in page that is open.
public final class ADWebAuthController: NSObject {
    /// Cancels the sign-in in progress in this process, of ADAL or of MSAL, if there is one.
    ///
    /// The result of an ADAL request then has the status `AD_USER_CANCELLED` and the error code `ERROR_UI_USER_CANCEL`
    /// (403). The page in the browser stays open without effect. May be called from any thread.
    public class func cancelCurrentWebAuthSession() {
        CurrentSignIn.shared.cancel()
    }
}

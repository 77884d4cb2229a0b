// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

package import AgentClient
// ADAL's own module exported UIKit's or AppKit's types. MSALCompat exports the same module, so that an app with both
// libraries has one `UIViewController`.
@_exported public import AppleTypes
public import Foundation

/// Tokens from one authority: the way into ADAL.
///
/// The agent keeps them: whoever signed in with any app of the sharing group, by ADAL or by MSAL, is signed in here.
/// Requests may be made from any thread, as many at a time as you like; each sees the properties as they are when it is made.
open class ADAuthenticationContext: NSObject {
    /// The authority in canonical form: lower case, `https://<host>/<tenant>`, with the port where one was given.
    public let authority: String
    /// Whether the authority has to be a known one; false where the app vouches for it.
    public var validateAuthority: Bool
    /// The identifier of each request from now on; nil makes a fresh one for each.
    public var correlationId: UUID?
    /// Where the sign-in page is shown. There is one way here, the system browser, so that it makes no difference.
    public var credentialsType: ADCredentialsType = AD_CREDENTIALS_EMBEDDED
    /// What the log calls the part of the app that uses this context.
    public var logComponent: String?
    /// What ADAL for iOS presents the sign-in page on. Inert: kept, not retained, and not used.
    open weak var parentController: UIViewController?
    /// Whether an expired token may be returned while the server is down, within the time the server allows; false unless set.
    public var extendedLifetimeEnabled = false
    /// What the app can do, such as `cp1`; sent with each request as a part of its claims.
    public var clientCapabilities: [String]?

    /// Whom requests go to; tests put an agent of their own here.
    package var agent = AgentClient.shared
    /// How the sign-in page is shown; nil takes the environment's way at each request.
    package var presenter: SignInPresenter?
    /// The process's sign-in in progress; tests set one of their own.
    package var currentSignIn = CurrentSignIn.shared

    /// Whose delegate is told of the context's requests.
    package var tokenCache: ADTokenCache?

    let canonicalAuthority: CanonicalAuthority
    let sharingGroup: SharingGroup

    /// A context whose authority is checked or not, in the default sharing group.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is `https://<host>/<tenant>`, with
    /// anything after it. `http` is taken for this machine's own names, such as `localhost`.
    public convenience init?(
        authority: String, validateAuthority: Bool,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        let group = ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
        self.init(authority: authority, validateAuthority: validateAuthority, sharedGroup: group, error: error)
        tokenCache = .default()
    }

    /// A context whose authority is checked or not, in the default sharing group, and whose use of the cache `delegate` is
    /// told of: an app that keeps the cache's archive itself. Nil is the delegate of `ADTokenCache.default()`.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is one.
    public convenience init?(
        authority: String, validateAuthority: Bool, cacheDelegate delegate: (any ADTokenCacheDelegate)?,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        self.init(authority: authority, validateAuthority: validateAuthority, error: error)
        guard let delegate else { return }
        let cache = ADTokenCache()
        cache.setDelegate(delegate)
        tokenCache = cache
    }

    /// A context whose authority is checked, in the default sharing group.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is one.
    public convenience init?(
        authority: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        self.init(authority: authority, validateAuthority: true, error: error)
    }

    /// A context in the sharing group `sharedGroup`; nil is this program's own group, shared with nobody.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is one.
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

    /// A context whose authority is checked, in the sharing group `sharedGroup`; nil is this program's own group.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), unless `authority` is one.
    public convenience init?(
        authority: String, sharedGroup: String?, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) {
        self.init(authority: authority, validateAuthority: true, sharedGroup: sharedGroup, error: error)
    }

    /// Whether `response` is an answer of a broker app that ADAL took care of. Never, here: there is no broker app, and
    /// the agent itself listens for the browser's answer.
    public class func handleADALResponse(_ response: URL, sourceApplication: String?) -> Bool { false }
}

/// Where the sign-in page is shown. There is one way here, the system browser, so that both values mean the same.
public struct ADCredentialsType: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Whatever is there.
public var AD_CREDENTIALS_AUTO: ADCredentialsType { ADCredentialsType(0) }

/// A web view in the app; here the system browser too.
public var AD_CREDENTIALS_EMBEDDED: ADCredentialsType { ADCredentialsType(1) }

/// Control over the sign-in page that is open.
public final class ADWebAuthController: NSObject {
    /// Gives up this process's interactive request, if one is under way.
    ///
    /// Its result has the status `AD_USER_CANCELLED` and the error code `ERROR_UI_USER_CANCEL` (403). The browser's page
    /// stays, but leads nowhere. From any thread.
    public class func cancelCurrentWebAuthSession() {
        CurrentSignIn.shared.cancel()
    }
}

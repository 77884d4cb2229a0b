public import Foundation
internal import Synchronization
internal import TokenModel

/// The settings that all contexts of the process share. May be used from any thread.
///
/// They are behind a lock because ADAL lets apps change them at any time. Each request reads them once, when it starts.
public final class ADAuthenticationSettings: NSObject, Sendable {
    private struct Values {
        var requestTimeOut: Int32 = 300
        var expirationBuffer: UInt32 = 300
        var enablesFullScreen = true
        var sharingGroup = SharingGroup.standard
    }

    private static let shared = ADAuthenticationSettings()
    private let values = Mutex(Values())

    /// Creates settings that no request reads; only the sharing group and the delegate are those of the process. Use
    /// `sharedInstance()` instead, as the header of ADAL says.
    public override init() {}

    /// The instance that requests read.
    public class func sharedInstance() -> ADAuthenticationSettings { shared }

    /// The time limit of requests that the library itself sends, in seconds; 300 by default.
    ///
    /// It applies to `ADAuthenticationParameters.parameters(fromResourceUrl:)` only. The agent has limits of its own for its
    /// requests to the token endpoint; a context waits for the agent for 90 seconds, or for the end of a sign-in.
    public var requestTimeOut: Int32 {
        get { values.withLock { $0.requestTimeOut } }
        set { values.withLock { $0.requestTimeOut = newValue } }
    }

    /// The time before its expiry at which a token counts as expired, in seconds; 300 by default.
    public var expirationBuffer: UInt32 {
        get { values.withLock { $0.expirationBuffer } }
        set { values.withLock { $0.expirationBuffer = newValue } }
    }

    /// Inert: the sign-in page opens in the system browser.
    public var enableFullScreen: Bool {
        get { values.withLock { $0.enablesFullScreen } }
        set { values.withLock { $0.enablesFullScreen = newValue } }
    }

    /// The sharing group of contexts that are created without one; `com.microsoft.adalcache` by default.
    public func defaultKeychainGroup() -> String { Self.shared.sharingGroup.name }

    /// Sets the sharing group of contexts that are created without one from now on; nil is this program's own group,
    /// which no other program uses.
    public func setDefaultKeychainGroup(_ keychainGroup: String?) {
        let group = SharingGroup(adalName: keychainGroup)
        Self.shared.values.withLock { $0.sharingGroup = group }
    }

    /// The delegate of `ADTokenCache.default()`, for an app that keeps the archive of the cache itself.
    public var defaultStorageDelegate: (any ADTokenCacheDelegate)? {
        get { ADTokenCache.default().delegate }
        set { ADTokenCache.default().setDelegate(newValue) }
    }

    var sharingGroup: SharingGroup { values.withLock { $0.sharingGroup } }
}

extension SharingGroup {
    /// Creates the group that an ADAL app names. Nil or blank is the program's own group, as it was the app's bundle ID
    /// in ADAL.
    init(adalName name: String?) {
        let own = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        self = name.flatMap(SharingGroup.init) ?? SharingGroup(own) ?? .standard
    }
}

public import Foundation
internal import Synchronization
internal import TokenModel

/// The settings that all contexts of the process share. Safe to use from any thread.
///
/// ADAL's contract makes them changeable at any time by anyone, which is why there is a lock; each request reads them
/// once, when it starts.
public final class ADAuthenticationSettings: NSObject, Sendable {
    private struct Values {
        var requestTimeOut: Int32 = 300
        var expirationBuffer: UInt32 = 300
        var enablesFullScreen = true
        var sharingGroup = SharingGroup.standard
    }

    private static let shared = ADAuthenticationSettings()
    private let values = Mutex(Values())

    /// Settings that no request reads, but for the sharing group and the delegate, which belong to the process. ADAL's header asks
    /// apps to use `sharedInstance()` instead.
    public override init() {}

    /// The one instance that requests read.
    public class func sharedInstance() -> ADAuthenticationSettings { shared }

    /// How long a request of the library's own may take, in seconds; 300 unless set.
    ///
    /// It limits `ADAuthenticationParameters.parameters(fromResourceUrl:)`. The agent has limits of its own for what it
    /// asks of the token endpoint.
    public var requestTimeOut: Int32 {
        get { values.withLock { $0.requestTimeOut } }
        set { values.withLock { $0.requestTimeOut = newValue } }
    }

    /// How long before its expiry a token counts as expired, in seconds; 300 unless set.
    public var expirationBuffer: UInt32 {
        get { values.withLock { $0.expirationBuffer } }
        set { values.withLock { $0.expirationBuffer = newValue } }
    }

    /// Inert: the sign-in page is a page of the system browser.
    public var enableFullScreen: Bool {
        get { values.withLock { $0.enablesFullScreen } }
        set { values.withLock { $0.enablesFullScreen = newValue } }
    }

    /// The sharing group of contexts that name none; `com.microsoft.adalcache` unless set.
    public func defaultKeychainGroup() -> String { Self.shared.sharingGroup.name }

    /// Sets the sharing group of contexts made from now on that name none; nil is this program's own, shared with nobody.
    public func setDefaultKeychainGroup(_ keychainGroup: String?) {
        let group = SharingGroup(adalName: keychainGroup)
        Self.shared.values.withLock { $0.sharingGroup = group }
    }

    /// The delegate of `ADTokenCache.default()`: the app that keeps the archive of the cache itself.
    public var defaultStorageDelegate: (any ADTokenCacheDelegate)? {
        get { ADTokenCache.default().delegate }
        set { ADTokenCache.default().setDelegate(newValue) }
    }

    var sharingGroup: SharingGroup { values.withLock { $0.sharingGroup } }
}

extension SharingGroup {
    /// The group that an ADAL app names; nil or blank is a group of the program's own, as ADAL's was the app's bundle ID.
    init(adalName name: String?) {
        let own = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        self = name.flatMap(SharingGroup.init) ?? SharingGroup(own) ?? .standard
    }
}

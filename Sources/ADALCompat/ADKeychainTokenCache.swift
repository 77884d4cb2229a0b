package import AgentClient
public import Foundation
internal import TokenModel

/// A sharing group of the agent's cache, under the name it has on Apple's systems.
///
/// It holds nothing itself, so that two of the same group are as good as one. Its methods block the calling thread until
/// the agent answers; safe to use from any thread.
public final class ADKeychainTokenCache: NSObject {
    /// The group's name.
    public let sharedGroup: String
    /// Whom requests go to; tests put an agent of their own here.
    package var agent = AgentClient.shared

    /// The default sharing group.
    public override init() {
        sharedGroup = ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
    }

    /// The sharing group `sharedGroup`; nil is this program's own group. Never nil.
    public init?(group sharedGroup: String?) {
        self.sharedGroup = SharingGroup(adalName: sharedGroup).name
    }

    private init(name: SharingGroup) {
        sharedGroup = name.name
    }

    /// The sharing group of contexts that name none; `com.microsoft.adalcache` unless set.
    public class func defaultKeychainGroup() -> String? {
        ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
    }

    /// Sets the sharing group of contexts made from now on that name none; nil is this program's own group.
    public class func setDefaultKeychainGroup(_ keychainGroup: String?) {
        ADAuthenticationSettings.sharedInstance().setDefaultKeychainGroup(keychainGroup)
    }

    /// The default sharing group.
    public class func defaultKeychain() -> ADKeychainTokenCache { ADKeychainTokenCache() }

    /// The sharing group `group`; nil is this program's own group.
    public class func keychainCache(forGroup group: String?) -> ADKeychainTokenCache {
        ADKeychainTokenCache(name: SharingGroup(adalName: group))
    }
}

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

/// What the group holds, and signing out. Each method that removes returns whether it was done, also when there was nothing
/// to do; when not, `error` says why.
extension ADKeychainTokenCache {
    /// Every item of the group, whichever app it belongs to; empty when there is none, nil when the agent cannot say.
    ///
    /// Access tokens that MSAL apps asked for are not among them. A refresh token is an item without a resource whose
    /// `refreshToken` is nil and whose `isMultiResourceRefreshToken()` is true.
    public func allItems(_ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> [ADTokenCacheItem]? {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.allReported() }
    }

    /// Removes one item; other items of the same person stay.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the item has no authority or no client ID.
    @discardableResult
    public func remove(
        _ item: ADTokenCacheItem, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.remove(item) } != nil
    }

    /// Signs everyone out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the client ID is blank.
    @discardableResult
    public func removeAll(
        forClientId clientId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in
            try items.removeAll(clientID: clientId)
        } != nil
    }

    /// Signs one person out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name or the client ID is blank.
    @discardableResult
    public func removeAll(
        forUserId userId: String, clientId: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in
            try items.removeAll(userID: userId, clientID: clientId)
        } != nil
    }

    /// Signs one person out of every app of the group, those that use MSAL too.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when the name is blank.
    @discardableResult
    public func wipeAllItems(
        forUserId userId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.wipe(userID: userId) }
            != nil
    }

    private var items: CachedItems { CachedItems(agent: agent, group: SharingGroup(adalName: sharedGroup)) }
}

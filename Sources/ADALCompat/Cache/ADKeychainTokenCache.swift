package import AgentClient
public import Foundation
internal import TokenModel

/// Shows a sharing group of the agent's cache, under the name that it has on Apple's systems.
///
/// It holds no tokens itself, so that all objects of the same group show the same items. Its methods block the calling
/// thread until the agent has answered, and fail if it has not after 90 seconds; they may be called from any thread.
///
/// A method that removes returns true if it succeeded, also if there was nothing to remove. Otherwise `error` has the reason:
/// `ERROR_UNEXPECTED` (-1), with the `TokenError` under `NSUnderlyingErrorKey`, if the agent does not answer or refuses.
public final class ADKeychainTokenCache: NSObject {
    /// The name of the group.
    public let sharedGroup: String
    /// The client that sends the requests; tests set one of their own.
    package var agent = AgentClient.shared

    /// Creates a view of the default sharing group.
    public override init() {
        sharedGroup = ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
    }

    /// Creates a view of the sharing group `sharedGroup`; nil is this program's own group. Never nil.
    public init?(group sharedGroup: String?) {
        self.sharedGroup = SharingGroup(adalName: sharedGroup).name
    }

    private init(name: SharingGroup) {
        sharedGroup = name.name
    }

    /// The sharing group of contexts that are created without one; `com.microsoft.adalcache` by default.
    public class func defaultKeychainGroup() -> String? {
        ADAuthenticationSettings.sharedInstance().defaultKeychainGroup()
    }

    /// Sets the sharing group of contexts that are created without one from now on; nil is this program's own group.
    public class func setDefaultKeychainGroup(_ keychainGroup: String?) {
        ADAuthenticationSettings.sharedInstance().setDefaultKeychainGroup(keychainGroup)
    }

    /// Returns a view of the default sharing group.
    public class func defaultKeychain() -> ADKeychainTokenCache { ADKeychainTokenCache() }

    /// Returns a view of the sharing group `group`; nil is this program's own group.
    public class func keychainCache(forGroup group: String?) -> ADKeychainTokenCache {
        ADKeychainTokenCache(name: SharingGroup(adalName: group))
    }
}

/// Lists the items of the group and signs users out.
extension ADKeychainTokenCache {
    /// Lists every item of the group, of every app; empty if there is none, nil with an error if the agent does not answer.
    ///
    /// Access tokens that MSAL apps requested are not included. A refresh token is an item without a resource, whose
    /// `refreshToken` is nil and whose `isMultiResourceRefreshToken()` is true.
    public func allItems(_ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> [ADTokenCacheItem]? {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.all() }
    }

    /// Removes one item; other items of the same user stay.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the item has no authority or no client ID.
    @discardableResult
    public func remove(
        _ item: ADTokenCacheItem, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.remove(item) } != nil
    }

    /// Signs every account out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the client ID is blank.
    @discardableResult
    public func removeAll(
        forClientId clientId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in
            try items.removeAll(clientID: clientId)
        } != nil
    }

    /// Signs one user out of one app.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the username or the client ID is blank.
    @discardableResult
    public func removeAll(
        forUserId userId: String, clientId: String,
        error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in
            try items.removeAll(userID: userId, clientID: clientId)
        } != nil
    }

    /// Signs one user out of every app of the group, of ADAL and of MSAL.
    ///
    /// `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if the username is blank.
    @discardableResult
    public func wipeAllItems(
        forUserId userId: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> Bool {
        ADAuthenticationError.report(error) { () throws(ADAuthenticationError) in try items.wipe(userID: userId) }
            != nil
    }

    private var items: CachedItems { CachedItems(agent: agent, group: SharingGroup(adalName: sharedGroup)) }
}

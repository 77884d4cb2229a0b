public import Foundation
internal import TokenModel

/// Where tokens are kept, and who else keeps accounts.
open class MSALCacheConfig: NSObject, NSCopying {
    /// The sharing group: the partition of the agent's cache that this app uses. Apps of one group share sign-ins, with
    /// ADAL apps of the same group too. `com.microsoft.adalcache` unless set.
    open var keychainSharingGroup: String
    /// An archive of an ADAL cache that the app keeps itself, to share with MSAL; nil unless set.
    open var serializedADALCache: MSALSerializedADALCacheProvider?
    /// The providers added so far.
    open private(set) var externalAccountProviders: [any MSALExternalAccountProviding] = []

    override init() {
        keychainSharingGroup = Self.defaultKeychainSharingGroup()
    }

    init(copying other: MSALCacheConfig) {
        keychainSharingGroup = other.keychainSharingGroup
        serializedADALCache = other.serializedADALCache
        externalAccountProviders = other.externalAccountProviders
    }

    /// The sharing group of apps that name none, in both libraries: `com.microsoft.adalcache`.
    open class func defaultKeychainSharingGroup() -> String { SharingGroup.standard.name }

    /// Adds a provider: its accounts are listed with the agent's, and it is told of token requests and removals.
    open func addExternalAccountProvider(_ externalAccountProvider: any MSALExternalAccountProviding) {
        externalAccountProviders.append(externalAccountProvider)
    }

    /// A copy with the same group and providers.
    open func copy(with zone: NSZone? = nil) -> Any { MSALCacheConfig(copying: self) }
}

public import Foundation
internal import TokenModel

/// What an application is: its client ID, where its accounts are, and how it uses the cache.
///
/// `MSALPublicClientApplication` takes a copy, so that later changes have no effect on it.
open class MSALPublicClientApplicationConfig: NSObject, NSCopying {
    /// The application (client) ID the app is registered under.
    open var clientId: String
    /// The redirect URI the app is registered with. Nil: interactive requests use the agent's own loopback redirect.
    open var redirectUri: String?
    /// Inert: concerns nested authentication in Apple's broker.
    open var nestedAuthBrokerClientId = ""
    /// Inert: concerns nested authentication in Apple's broker.
    open var nestedAuthBrokerRedirectUri: String?
    /// Who issues tokens when a request names nobody: `https://login.microsoftonline.com/common` unless set.
    open var authority: MSALAuthority
    /// Authorities that the app vouches for: they are not validated. Needed for B2C hosts and local emulators.
    open var knownAuthorities: [MSALAuthority] = []
    /// Whether an expired token may be returned in an outage, within its extended lifetime. False unless set.
    open var extendedLifetimeEnabled = false
    /// What the app can do, such as `cp1`; sent with every request.
    open var clientApplicationCapabilities: [String]?
    /// How long before its expiry a token counts as expired, in seconds; 300 unless set. Parts of a second do not
    /// count.
    open var tokenExpirationBuffer = 300.0
    /// Query parameters that choose a test slice of the service.
    open var sliceConfig: MSALSliceConfig?
    /// Where tokens are kept.
    public let cacheConfig: MSALCacheConfig
    /// Whether the person may sign in in another cloud than the authority's. False unless set.
    open var multipleCloudsSupported = false
    /// Whether to take the redirect URI as it is. False unless set.
    open var bypassRedirectURIValidation = false

    /// An app that signs in work, school and personal accounts of the public cloud.
    public convenience init(clientId: String) {
        self.init(clientId: clientId, redirectUri: nil, authority: nil)
    }

    /// An app with this redirect URI and authority; nil takes the defaults.
    public init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
        self.clientId = clientId
        self.redirectUri = redirectUri
        self.authority = authority ?? MSALAuthority.issuer(.common)
        self.cacheConfig = MSALCacheConfig()
    }

    /// The same, with members that concern Apple's broker. Inert: they do nothing.
    public convenience init(
        clientId: String, redirectUri: String?, authority: MSALAuthority?, nestedAuthBrokerClientId: String?,
        nestedAuthBrokerRedirectUri: String?
    ) {
        self.init(clientId: clientId, redirectUri: redirectUri, authority: authority)
        self.nestedAuthBrokerClientId = nestedAuthBrokerClientId ?? ""
        self.nestedAuthBrokerRedirectUri = nestedAuthBrokerRedirectUri
    }

    private init(copying other: MSALPublicClientApplicationConfig) {
        clientId = other.clientId
        redirectUri = other.redirectUri
        nestedAuthBrokerClientId = other.nestedAuthBrokerClientId
        nestedAuthBrokerRedirectUri = other.nestedAuthBrokerRedirectUri
        authority = other.authority
        knownAuthorities = other.knownAuthorities
        extendedLifetimeEnabled = other.extendedLifetimeEnabled
        clientApplicationCapabilities = other.clientApplicationCapabilities
        tokenExpirationBuffer = other.tokenExpirationBuffer
        sliceConfig = other.sliceConfig
        cacheConfig = MSALCacheConfig(copying: other.cacheConfig)
        multipleCloudsSupported = other.multipleCloudsSupported
        bypassRedirectURIValidation = other.bypassRedirectURIValidation
    }

    /// A copy that shares nothing that can change.
    open func copy(with zone: NSZone? = nil) -> Any { MSALPublicClientApplicationConfig(copying: self) }
}

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

/// Query parameters that choose a test slice of Microsoft's service.
open class MSALSliceConfig: NSObject, NSCopying {
    /// The `slice` parameter.
    open var slice: String
    /// The `dc` parameter.
    open var dc: String

    /// Nil when both are missing.
    public init?(slice: String?, dc: String?) {
        guard slice != nil || dc != nil else { return nil }
        self.slice = slice ?? ""
        self.dc = dc ?? ""
    }

    /// The parameters; blank ones are left out.
    open var sliceDictionary: [AnyHashable: Any] { parameters }

    var parameters: [String: String] {
        ["slice": slice, "dc": dc].filter { !$0.value.isEmpty }
    }

    /// A copy with the same members.
    open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(slice: slice, dc: dc) ?? self }
}

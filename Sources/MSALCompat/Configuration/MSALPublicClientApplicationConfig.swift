public import Foundation
internal import TokenModel

/// The configuration of an application: its client ID, its authority, and how it uses the cache.
///
/// `MSALPublicClientApplication` copies it, so that later changes have no effect on the application.
open class MSALPublicClientApplicationConfig: NSObject, NSCopying {
    /// The application (client) ID under which the app is registered.
    open var clientId: String
    /// The redirect URI with which the app is registered. An `http` URI on this machine is used; any other, and none, is
    /// replaced by `http://localhost`, which has to be registered for the app too.
    open var redirectUri: String?
    /// Inert: belongs to nested authentication in Apple's broker.
    open var nestedAuthBrokerClientId = ""
    /// Inert: belongs to nested authentication in Apple's broker.
    open var nestedAuthBrokerRedirectUri: String?
    /// The authority of requests that name none: `https://login.microsoftonline.com/common` by default.
    open var authority: MSALAuthority
    /// Authorities that the app trusts and that are not validated, such as B2C hosts and local emulators.
    open var knownAuthorities: [MSALAuthority] = []
    /// Whether an expired token may be returned during an outage, within its extended lifetime. False by default.
    open var extendedLifetimeEnabled = false
    /// The capabilities of the app, such as `cp1`; sent with every request.
    open var clientApplicationCapabilities: [String]?
    /// The time before its expiry at which a token counts as expired, in seconds; 300 by default. Fractions of a second
    /// are ignored.
    open var tokenExpirationBuffer = 300.0
    /// Query parameters that select a test slice of the service.
    open var sliceConfig: MSALSliceConfig?
    /// The sharing group and the sources of accounts.
    public let cacheConfig: MSALCacheConfig
    /// Whether the user may sign in to another cloud than the authority's. False by default.
    open var multipleCloudsSupported = false
    /// Whether the redirect URI is used without validation. False by default.
    open var bypassRedirectURIValidation = false

    /// Creates the configuration of an app that signs in work, school and personal accounts of the public cloud.
    public convenience init(clientId: String) {
        self.init(clientId: clientId, redirectUri: nil, authority: nil)
    }

    /// Creates the configuration of an app with this redirect URI and authority; nil takes the default.
    public init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {
        self.clientId = clientId
        self.redirectUri = redirectUri
        self.authority = authority ?? MSALAuthority.issuer(.common)
        self.cacheConfig = MSALCacheConfig()
    }

    /// Creates a configuration with values for nested authentication in Apple's broker. Inert: these have no effect.
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
        sliceConfig = other.sliceConfig.map { MSALSliceConfig(copying: $0) }
        cacheConfig = MSALCacheConfig(copying: other.cacheConfig)
        multipleCloudsSupported = other.multipleCloudsSupported
        bypassRedirectURIValidation = other.bypassRedirectURIValidation
    }

    /// Returns a copy that shares no mutable state with the original.
    open func copy(with zone: NSZone? = nil) -> Any { MSALPublicClientApplicationConfig(copying: self) }
}

/// The sharing group of an application, and additional sources of accounts.
open class MSALCacheConfig: NSObject, NSCopying {
    /// The sharing group: the partition of the agent's cache that this app uses. The apps of a group, also those of
    /// ADAL, share sign-ins. `com.microsoft.adalcache` by default.
    open var keychainSharingGroup: String
    /// The archive of an ADAL cache that the app keeps itself, to share with MSAL; nil by default.
    open var serializedADALCache: MSALSerializedADALCacheProvider?
    /// The external account providers that have been added.
    open private(set) var externalAccountProviders: [any MSALExternalAccountProviding] = []

    override init() {
        keychainSharingGroup = Self.defaultKeychainSharingGroup()
    }

    init(copying other: MSALCacheConfig) {
        keychainSharingGroup = other.keychainSharingGroup
        serializedADALCache = other.serializedADALCache
        externalAccountProviders = other.externalAccountProviders
    }

    /// The sharing group of apps that name none, of both libraries: `com.microsoft.adalcache`.
    open class func defaultKeychainSharingGroup() -> String { SharingGroup.standard.name }

    /// Adds a provider: its accounts are listed with those of the agent, and it is notified of new tokens and removed
    /// accounts.
    open func addExternalAccountProvider(_ externalAccountProvider: any MSALExternalAccountProviding) {
        externalAccountProviders.append(externalAccountProvider)
    }

    /// Returns a copy with the same group and providers.
    open func copy(with zone: NSZone? = nil) -> Any { MSALCacheConfig(copying: self) }
}

/// Query parameters that select a test slice of the service.
open class MSALSliceConfig: NSObject, NSCopying {
    /// The `slice` parameter.
    open var slice: String
    /// The `dc` parameter.
    open var dc: String

    /// Creates parameters; nil omits one. Never nil.
    public init?(slice: String?, dc: String?) {
        self.slice = slice ?? ""
        self.dc = dc ?? ""
    }

    init(copying other: MSALSliceConfig) {
        (slice, dc) = (other.slice, other.dc)
    }

    /// The parameters, without empty ones.
    open var sliceDictionary: [AnyHashable: Any] { parameters }

    var parameters: [String: String] {
        ["slice": slice, "dc": dc].filter { !$0.value.isEmpty }
    }

    /// Returns a copy with the same values.
    open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(copying: self) }
}

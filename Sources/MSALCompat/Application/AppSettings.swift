internal import Foundation
internal import TokenModel

/// An application's configuration as a value: taken once, so that later changes of the configuration have no effect.
struct AppSettings: Sendable {
    let clientID: ClientID
    let redirectURI: String?
    let authority: Authority
    let knownAuthorities: [Authority]
    let sharingGroup: SharingGroup
    let capabilities: [String]
    let extraParameters: [String: String]
    let expirationBuffer: Int64
    let allowsExtendedLifetime: Bool
    let supportsMultipleClouds: Bool

    /// - Throws: -50000 with -42000 when the client ID is blank or the authority is of no kind that MSAL supports, with
    ///   -42011 when the redirect URI is not a URL with a scheme.
    init(_ config: MSALPublicClientApplicationConfig) throws(NSError) {
        guard let clientID = ClientID(config.clientId) else {
            throw MSALError.error(.internalErrorInvalidParameter, "the client ID is blank")
        }
        _ = try MSALAuthority.make(config.authority.authority)
        let redirectURI = try MSALRedirectUri(
            config.redirectUri, isValidated: !config.bypassRedirectURIValidation)
        self.clientID = clientID
        // The default is nobody's registered URI: the agent does better with its own loopback redirect.
        self.redirectURI = config.redirectUri?.trimmedNonEmpty == nil ? nil : redirectURI.url.absoluteString
        authority = config.authority.authority
        knownAuthorities = config.knownAuthorities.map(\.authority)
        sharingGroup = SharingGroup(config.cacheConfig.keychainSharingGroup) ?? .standard
        capabilities = config.clientApplicationCapabilities ?? []
        extraParameters = config.sliceConfig?.parameters ?? [:]
        expirationBuffer = Int64(exactly: config.tokenExpirationBuffer.rounded(.towardZero)) ?? 300
        allowsExtendedLifetime = config.extendedLifetimeEnabled
        supportsMultipleClouds = config.multipleCloudsSupported
    }
}

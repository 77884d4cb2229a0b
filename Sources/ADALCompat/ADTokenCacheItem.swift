public import Foundation
internal import TokenModel

/// One token, and what it is for.
///
/// A copy for the app: what is changed here changes nothing in the agent. Not for use from several threads at once.
public final class ADTokenCacheItem: NSObject, NSCopying, NSSecureCoding {
    /// The resource the access token is for, as the app asked for it.
    public var resource: String?
    /// The authority the token was asked of, in canonical form.
    public var authority: String = ""
    /// The app.
    public var clientId: String?
    /// The family of client IDs that the app belongs to; nil when it belongs to none.
    public var familyId: String?
    /// The access token.
    public var accessToken: String?
    /// The access token's type, `Bearer` in practice.
    public var accessTokenType: String?
    /// Always nil in what the library returns: refresh tokens stay in the agent. `isMultiResourceRefreshToken()` still says
    /// which item of a cache stands for one.
    public var refreshToken: String?
    /// Always nil in what the library returns: session keys were the broker's.
    public var sessionKey: Data?
    /// When the access token expires.
    public var expiresOn: Date?
    /// Whose token it is; nil when the server named nobody.
    public var userInformation: ADUserInformation?
    /// Whether the agent has a refresh token where `refreshToken` is nil.
    package var standsForRefreshToken = false

    /// An item with nothing in it.
    public override init() {}

    /// What the item is found by.
    ///
    /// Nil, and the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), when the authority is not one or there is no client ID.
    public func extractKey(
        _ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?
    ) -> ADTokenCacheKey? {
        let key = ADTokenCacheKey(authority: authority, resource: resource, clientID: clientId)
        if key == nil { error?.pointee = .invalidArgument("an item needs an authority and a client ID to have a key") }
        return key
    }

    /// Whether the access token expires within `ADAuthenticationSettings.expirationBuffer`; false when nobody knows when.
    public func isExpired() -> Bool {
        guard let expiresOn else { return false }
        return expiresOn
            < Date(timeIntervalSinceNow: Double(ADAuthenticationSettings.sharedInstance().expirationBuffer))
    }

    /// Whether nobody knows whose token it is.
    public func isEmptyUser() -> Bool { userInformation == nil }

    /// Whether it is a refresh token that serves several resources, or stands for one that the agent has.
    public func isMultiResourceRefreshToken() -> Bool {
        resource?.trimmedNonEmpty == nil && accessToken?.trimmedNonEmpty == nil
            && (standsForRefreshToken || refreshToken?.trimmedNonEmpty != nil)
    }

    /// A second item with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        let item = ADTokenCacheItem()
        item.resource = resource
        item.authority = authority
        item.clientId = clientId
        item.familyId = familyId
        item.accessToken = accessToken
        item.accessTokenType = accessTokenType
        item.refreshToken = refreshToken
        item.sessionKey = sessionKey
        item.expiresOn = expiresOn
        item.userInformation = userInformation
        item.standsForRefreshToken = standsForRefreshToken
        return item
    }

    /// Two items are equal when all their values are.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADTokenCacheItem else { return false }
        return texts == other.texts && sessionKey == other.sessionKey && expiresOn == other.expiresOn
            && userInformation == other.userInformation
    }

    /// Fits `isEqual(_:)`.
    public override var hash: Int { [resource, authority, clientId, userInformation?.userId].hashValue }

    /// Authority, client ID, resource and whose it is; never a token.
    public override var description: String {
        "token of \(clientId ?? "no app") for \(resource ?? "no resource") from \(authority)"
    }

    private var texts: [String?] {
        [resource, authority, clientId, familyId, accessToken, accessTokenType, refreshToken]
    }
}

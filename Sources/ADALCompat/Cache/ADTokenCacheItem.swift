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

/// Archives under the keys ADAL uses.
extension ADTokenCacheItem {
    /// Archives are read securely.
    public static var supportsSecureCoding: Bool { true }

    /// Archives every value, tokens too: keep the archive as you would keep them.
    public func encode(with coder: NSCoder) {
        for (key, path) in Self.textKeys {
            coder.encode(self[keyPath: path].map { $0 as NSString }, forKey: key)
        }
        coder.encode(authority as NSString, forKey: "authority")
        coder.encode(sessionKey.map { $0 as NSData }, forKey: "sessionKey")
        coder.encode(expiresOn.map { $0 as NSDate }, forKey: "expiresOn")
        coder.encode(userInformation, forKey: "userInformation")
    }

    /// Reads an archive; keys that are missing leave their values nil.
    public convenience init?(coder: NSCoder) {
        self.init()
        for (key, path) in Self.textKeys { self[keyPath: path] = coder.text(forKey: key) }
        authority = coder.text(forKey: "authority") ?? ""
        sessionKey = coder.object(NSData.self, forKey: "sessionKey").map { Data(referencing: $0) }
        expiresOn = coder.object(NSDate.self, forKey: "expiresOn").map {
            Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
        }
        userInformation = coder.object(ADUserInformation.self, forKey: "userInformation")
    }

    private static var textKeys: [(key: String, path: ReferenceWritableKeyPath<ADTokenCacheItem, String?>)] {
        [
            ("resource", \.resource), ("clientId", \.clientId), ("familyId", \.familyId),
            ("accessToken", \.accessToken), ("accessTokenType", \.accessTokenType), ("refreshToken", \.refreshToken),
        ]
    }
}

extension ADTokenCacheItem {
    /// The agent's answer in ADAL's shape.
    convenience init(_ token: TokenResult, for target: TokenAcquisition.Target) {
        self.init()
        resource = target.resource
        authority = target.authority.inCloud(of: token.authority)
        clientId = target.clientID
        familyId = token.familyID?.text
        accessToken = token.accessToken.reveal()
        accessTokenType = token.tokenType.trimmedNonEmpty ?? "Bearer"
        let expiry = token.isExtendedLifetime ? token.extendedExpiresOn ?? token.expiresOn : token.expiresOn
        expiresOn = Date(timeIntervalSince1970: TimeInterval(expiry))
        userInformation = ADUserInformation(token.idToken, token.account.reference)
    }
}

extension ADUserInformation {
    /// Whose token it is: what the ID token says, else what the agent knows; nil when that is nothing.
    convenience init?(_ idToken: String?, _ account: AccountReference) {
        let homeAccountID = account.homeAccountID?.text
        if let idToken, UserClaims(idToken: idToken)?.user != nil {
            self.init(idToken: idToken, homeAccountID: homeAccountID)
        } else if let username = account.username.flatMap(ADUserInformation.normalizeUserId) {
            self.init(userID: username, isDisplayable: true, homeAccountID: homeAccountID)
        } else if let homeAccountID {
            self.init(userID: homeAccountID, isDisplayable: false, homeAccountID: homeAccountID)
        } else {
            return nil
        }
    }
}

extension ADTokenCacheItem {
    /// A credential of the agent's cache in ADAL's shape: a family's refresh token is that of an app named `foci-`*n*.
    convenience init(_ credential: Credential) {
        self.init()
        resource = credential.scopes.resource
        authority = credential.authority
        clientId = credential.familyID.map { "foci-\($0)" } ?? credential.clientID.text
        familyId = credential.familyID?.text
        accessToken = credential.accessToken?.reveal()
        accessTokenType = credential.accessToken.map { _ in credential.tokenType?.trimmedNonEmpty ?? "Bearer" }
        expiresOn = credential.expiresOn.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        userInformation = ADUserInformation(credential.idToken, credential.account)
        standsForRefreshToken = credential.kind == .refreshToken
    }
}

/// What a token is found by: authority, resource and client ID. Opaque to apps; compare two of them.
public final class ADTokenCacheKey: NSObject, NSCopying, Sendable {
    private let authority: String
    private let resource: String?
    private let clientID: String

    /// Nil when the authority is not one, or the client ID is blank.
    init?(authority: String, resource: String?, clientID: String?) {
        guard let authority = CanonicalAuthority(authority)?.text, let clientID = clientID?.trimmedNonEmpty else {
            return nil
        }
        self.authority = authority
        self.resource = resource?.trimmedNonEmpty?.lowercased()
        self.clientID = clientID.lowercased()
    }

    /// Two keys of the same token are equal; case does not matter.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADTokenCacheKey else { return false }
        return authority == other.authority && resource == other.resource && clientID == other.clientID
    }

    /// Fits `isEqual(_:)`.
    public override var hash: Int { [authority, resource ?? "", clientID].hashValue }

    /// The object itself: it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSCoder {
    /// The object archived under `key`; nil when there is none or it is something else.
    ///
    /// Asks first: swift-corelibs-foundation traps on a key that is not there.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    /// The string archived under `key`; nil when there is none.
    func text(forKey key: String) -> String? {
        object(NSString.self, forKey: key).map { $0 as String }
    }
}

internal import CompatSupport
public import Foundation
internal import Synchronization
internal import TokenModel

/// A token and its description.
///
/// A copy for the app: changes to it do not reach the agent. It may be read from several threads at once, and must not be changed meanwhile.
public final class ADTokenCacheItem: NSObject, NSCopying, NSSecureCoding {
    /// The resource that the access token is for, as the app requested it; nil for a refresh token for every resource.
    public var resource: String?
    /// The authority in canonical form: in a result as `ADAuthenticationResult.authority`, in a list of the cache the one under
    /// which the token is saved, at the host that its cloud prefers for caches.
    public var authority: String = ""
    /// The client ID of the app; `foci-`*n* for the refresh token of the family *n*.
    public var clientId: String?
    /// The family of client IDs that the token endpoint has named with this token, or that shares this refresh token; nil if it
    /// has named none, and in a result from the cache.
    public var familyId: String?
    /// The access token; nil for a refresh token.
    public var accessToken: String?
    /// The access token's type, `Bearer` in practice; nil for a refresh token.
    public var accessTokenType: String?
    /// Always nil in items of the library: refresh tokens stay in the agent. `isMultiResourceRefreshToken()` tells
    /// which item represents one.
    public var refreshToken: String?
    /// Always nil in items of the library: session keys belong to a broker app.
    public var sessionKey: Data?
    /// The time at which the access token expires; nil for a refresh token.
    public var expiresOn: Date?
    /// The user of the token; nil if neither the server nor the cache names one, as with some AD FS.
    public var userInformation: ADUserInformation? {
        get { user.withLock { $0.information() } }
        set { user.withLock { $0 = .read(newValue) } }
    }
    private let user = Mutex(User.read(nil))
    /// Whether the agent has a refresh token for this item, although `refreshToken` is nil.
    package var representsRefreshToken = false

    /// Creates an empty item.
    public override init() {}

    /// Creates the item of a token result.
    init(_ token: TokenResult, for target: TokenAcquisition.Target) {
        resource = target.resource
        authority = Self.authority(of: token, for: target.authority)
        clientId = target.clientID
        familyId = token.familyID?.text
        accessToken = token.accessToken.reveal()
        accessTokenType = token.tokenType.trimmedNonEmpty ?? "Bearer"
        let expiry = token.isExtendedLifetime ? token.extendedExpiresOn ?? token.expiresOn : token.expiresOn
        expiresOn = Date(timeIntervalSince1970: TimeInterval(expiry))
        user.withLock { $0 = .unread(idToken: token.idToken, token.account.reference) }
    }

    /// The user, or what it is read from when it is first asked for: most apps need the access token only.
    private enum User: Sendable {
        case unread(idToken: String?, AccountReference)
        case read(ADUserInformation?)

        mutating func information() -> ADUserInformation? {
            switch self {
            case .read(let information): return information
            case .unread(let idToken, let account):
                let information = ADUserInformation(idToken, account)
                self = .read(information)
                return information
            }
        }
    }

    /// Returns the key by which the cache finds the item.
    ///
    /// Returns nil, with the error `ERROR_DEVELOPER_INVALID_ARGUMENT` (100), if the authority is not valid or there is
    /// no client ID.
    public func extractKey(_ error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) -> ADTokenCacheKey? {
        let key = ADTokenCacheKey(authority: authority, resource: resource, clientID: clientId)
        if key == nil { error?.pointee = .invalidArgument("an item needs an authority and a client ID to have a key") }
        return key
    }

    /// Whether the access token expires within `ADAuthenticationSettings.expirationBuffer`; false if its expiry is not
    /// known.
    public func isExpired() -> Bool {
        guard let expiresOn else { return false }
        return expiresOn
            < Date(timeIntervalSinceNow: Double(ADAuthenticationSettings.sharedInstance().expirationBuffer))
    }

    /// Whether the user of the token is not known.
    public func isEmptyUser() -> Bool { userInformation == nil }

    /// Whether the item is, or represents, a refresh token for several resources.
    public func isMultiResourceRefreshToken() -> Bool {
        resource?.trimmedNonEmpty == nil && accessToken?.trimmedNonEmpty == nil
            && (representsRefreshToken || refreshToken?.trimmedNonEmpty != nil)
    }

    /// Returns a copy with the same values.
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
        item.representsRefreshToken = representsRefreshToken
        return item
    }

    /// Whether all values are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADTokenCacheItem else { return false }
        return texts == other.texts && sessionKey == other.sessionKey && expiresOn == other.expiresOn
            && userInformation == other.userInformation
    }

    /// Equal for equal items.
    public override var hash: Int { [resource, authority, clientId, userInformation?.userId].hashValue }

    /// The values in ADAL's layout, for logs; `(hidden)` stands for a token, `(null)` for nil.
    public override var description: String {
        "(authority=\(authority) clientId=\(clientId ?? "(null)") accessToken=\(Self.hidden(accessToken)) "
            + "accessTokenType=\(accessTokenType ?? "(null)") refreshToken=\(Self.hidden(refreshToken)) "
            + "resource=\(resource ?? "(null)"))"
    }

    /// Where ADAL writes the hash of a token.
    private static func hidden(_ token: String?) -> String { token?.trimmedNonEmpty == nil ? "(nil)" : "(hidden)" }

    private var texts: [String?] {
        [resource, authority, clientId, familyId, accessToken, accessTokenType, refreshToken]
    }
}

/// Archives under the keys of ADAL.
extension ADTokenCacheItem {
    /// True: archives can be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes all values, also tokens: store the archive as you would store passwords.
    public func encode(with coder: NSCoder) {
        for (key, path) in Self.textKeys {
            coder.encode(self[keyPath: path].map { $0 as NSString }, forKey: key)
        }
        coder.encode(authority as NSString, forKey: "authority")
        coder.encode(sessionKey.map { $0 as NSData }, forKey: "sessionKey")
        coder.encode(expiresOn.map { $0 as NSDate }, forKey: "expiresOn")
        coder.encode(userInformation, forKey: "userInformation")
    }

    /// Decodes an archive; values without a key are nil.
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
    /// Returns the authority that issued the token, in canonical form.
    fileprivate static func authority(of token: TokenResult, for requested: CanonicalAuthority) -> String {
        authorities.value(for: Issuance(requested: requested, issuer: token.authority)) {
            requested.inCloud(of: token.authority)
        }
    }

    private struct Issuance: Sendable, Equatable {
        let requested: CanonicalAuthority
        let issuer: String
    }

    private static let authorities = RecentValues<Issuance, String>()
}

extension ADTokenCacheItem {
    /// Creates the item of a credential in the agent's cache. The refresh token of a family has the client ID
    /// `foci-`*n*.
    convenience init(_ credential: Credential) {
        self.init()
        resource = credential.scopes.resource
        authority = credential.authority
        clientId = (credential.familyID?.clientID ?? credential.clientID).text
        familyId = credential.familyID?.text
        accessToken = credential.accessToken?.reveal()
        accessTokenType = credential.accessToken.map { _ in credential.tokenType?.trimmedNonEmpty ?? "Bearer" }
        expiresOn = credential.expiresOn.map { Date(timeIntervalSince1970: TimeInterval($0)) }
        userInformation = ADUserInformation(credential.idToken, credential.account)
        representsRefreshToken = credential.kind == .refreshToken
    }
}

/// The key of a cache item: authority, resource and client ID. Opaque to apps, which may compare keys.
public final class ADTokenCacheKey: NSObject, NSCopying, Sendable {
    private let authority: String
    private let resource: String?
    private let clientID: String

    /// Returns nil if the authority is not valid, or the client ID is blank.
    init?(authority: String, resource: String?, clientID: String?) {
        guard let authority = CanonicalAuthority(authority)?.text, let clientID = clientID?.trimmedNonEmpty else {
            return nil
        }
        self.authority = authority
        self.resource = resource?.trimmedNonEmpty?.lowercased()
        self.clientID = clientID.lowercased()
    }

    /// Whether two keys identify the same item, without regard to case.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADTokenCacheKey else { return false }
        return authority == other.authority && resource == other.resource && clientID == other.clientID
    }

    /// Equal for equal keys.
    public override var hash: Int { [authority, resource ?? "", clientID].hashValue }

    /// Returns the object itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSCoder {
    /// Decodes the object under `key`; returns nil if there is none or it has another type.
    ///
    /// Tests for the key first, because swift-corelibs-foundation traps on a missing key.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    /// Decodes the string under `key`; returns nil if there is none.
    func text(forKey key: String) -> String? {
        object(NSString.self, forKey: key).map { $0 as String }
    }
}

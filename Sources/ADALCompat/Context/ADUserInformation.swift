public import Foundation
internal import TokenModel

/// Who signed in, as the ID token says. Immutable, so that it may be used from any thread.
public final class ADUserInformation: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// The name to pass as `userId` from now on: the user principal name where there is one; in lower case.
    ///
    /// The first of `upn`, `email`, `sub`, `oid`, `unique_name` and `altsecid`; of a v2 token `preferred_username`, else `sub`.
    public let userId: String
    /// What identifies the account in every tenant, the same as MSAL's `account.identifier`.
    ///
    /// `<object id>.<home tenant id>` for Entra accounts. Nil for an account known only from an older ADAL cache, and
    /// when the object was made with `init(idToken:error:)`.
    public let homeAccountId: String?
    /// Whether `userId` is a name that people know.
    public let userIdDisplayable: Bool
    /// The account in the tenant that issued the token: `oid`, else `sub`; in lower case.
    public let uniqueId: String?
    /// The ID token as received; empty when the agent knows the account without one.
    public let rawIdToken: String
    private let claims: UserClaims?

    /// Reads an ID token. Its signature is not checked.
    ///
    /// Nil, and the error `ERROR_SERVER_INVALID_ID_TOKEN` (206), when it cannot be read or names nobody.
    public convenience init?(idToken: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) {
        guard UserClaims(idToken: idToken)?.user != nil else {
            error?.pointee = ADAuthenticationError(
                .ERROR_SERVER_INVALID_ID_TOKEN, "the ID token cannot be read, or names nobody")
            return nil
        }
        self.init(idToken: idToken, homeAccountID: nil)
    }

    package init?(idToken: String, homeAccountID: String?) {
        guard let claims = UserClaims(idToken: idToken), let user = claims.user else { return nil }
        self.userId = user.userID
        self.homeAccountId = homeAccountID
        self.userIdDisplayable = user.isDisplayable
        self.uniqueId = user.uniqueID
        self.rawIdToken = idToken
        self.claims = claims
    }

    /// An account without an ID token.
    package init(userID: String, isDisplayable: Bool, homeAccountID: String?) {
        self.userId = userID
        self.homeAccountId = homeAccountID
        self.userIdDisplayable = isDisplayable
        self.uniqueId = nil
        self.rawIdToken = ""
        self.claims = nil
    }

    /// The claim `given_name`.
    public var givenName: String? { claims?.texts["given_name"] }
    /// The claim `family_name`.
    public var familyName: String? { claims?.texts["family_name"] }
    /// The claim `idp`: who vouches for a guest.
    public var identityProvider: String? { claims?.texts["idp"] }
    /// The claim `email`.
    public var eMail: String? { claims?.texts["email"] }
    /// The claim `unique_name`.
    public var uniqueName: String? { claims?.texts["unique_name"] }
    /// The claim `upn`, the user principal name.
    public var upn: String? { claims?.texts["upn"] }
    /// The claim `tid`: the tenant that issued the token.
    public var tenantId: String? { claims?.texts["tid"] }
    /// The claim `sub`: the person as this app knows them.
    public var subject: String? { claims?.texts["sub"] }
    /// The claim `oid`: the account's object id in the tenant.
    public var userObjectId: String? { claims?.texts["oid"] }
    /// The claim `altsecid`.
    public var guestId: String? { claims?.texts["altsecid"] }
    /// All claims of the token's payload, as Foundation reads JSON; nil without an ID token. Parsed anew at each access.
    public var allClaims: [AnyHashable: Any]? { claims?.all }

    /// `userId` without surrounding white space and in lower case; nil when nothing is left.
    public class func normalizeUserId(_ userId: String) -> String? {
        userId.trimmedNonEmpty?.lowercased()
    }

    /// Two are equal when their ID tokens and home account ids are.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADUserInformation else { return false }
        return rawIdToken == other.rawIdToken && homeAccountId == other.homeAccountId && userId == other.userId
    }

    /// Fits `isEqual(_:)`.
    public override var hash: Int { rawIdToken.hashValue ^ userId.hashValue }

    /// The object itself: it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Archives are read securely.
    public static var supportsSecureCoding: Bool { true }

    /// Archives under ADAL's keys, and the home account id, which ADAL forgot.
    public func encode(with coder: NSCoder) {
        coder.encode(rawIdToken as NSString, forKey: "rawIdToken")
        coder.encode(userId as NSString, forKey: "userId")
        coder.encode(userIdDisplayable, forKey: "userIdDisplayable")
        coder.encode(homeAccountId.map { $0 as NSString }, forKey: "homeAccountId")
    }

    /// Reads an archive; nil when it names nobody.
    public convenience init?(coder: NSCoder) {
        let homeAccountID = coder.text(forKey: "homeAccountId")
        if let idToken = coder.text(forKey: "rawIdToken"), !idToken.isEmpty {
            self.init(idToken: idToken, homeAccountID: homeAccountID)
        } else if let userID = coder.text(forKey: "userId") {
            let key = "userIdDisplayable"
            let isDisplayable = coder.containsValue(forKey: key) && coder.decodeBool(forKey: key)
            self.init(userID: userID, isDisplayable: isDisplayable, homeAccountID: homeAccountID)
        } else {
            return nil
        }
    }
}

/// The claims of an ID token, and who they say the person is, by the rules of ADAL 2.7.
///
/// The token's payload only: what its header says is not about the person.
struct UserClaims: Sendable {
    /// Who the token is about.
    struct User: Sendable, Equatable {
        var userID: String
        var isDisplayable: Bool
        var uniqueID: String?
    }

    /// The claims that are text, as received.
    let texts: [String: String]
    /// The payload, a JSON object.
    let payload: Data

    /// Nil when `idToken` is not a compact JWS, or the payload of one, that holds a JSON object.
    init?(idToken: String) {
        guard let payload = IDTokenClaims.payload(ofJWT: idToken), let all = Self.object(payload) else { return nil }
        self.payload = payload
        self.texts = all.compactMapValues { $0 as? String }
    }

    /// All claims, as Foundation reads JSON.
    var all: [String: Any] { Self.object(payload) ?? [:] }

    /// The person; nil when no claim names one.
    ///
    /// The claim `ver` says which endpoint issued the token and so which claims count. Tokens of neither are those of
    /// AD FS and the like.
    var user: User? {
        switch texts["ver"] {
        case "1.0": v1User
        case "2.0": v2User
        default: named("upn") != nil || named("unique_name") != nil ? v1User : subjectOnly
        }
    }

    private var v1User: User? {
        let displayable: Set = ["upn", "email", "unique_name"]
        let names = ["upn", "email", "sub", "oid", "unique_name", "altsecid"]
        guard let claim = names.first(where: { named($0) != nil }), let userID = named(claim) else { return nil }
        return User(userID: userID, isDisplayable: displayable.contains(claim), uniqueID: named("oid") ?? named("sub"))
    }

    private var v2User: User? {
        guard let userID = named("preferred_username") ?? named("sub") else { return nil }
        return User(userID: userID, isDisplayable: true, uniqueID: named("oid") ?? named("sub"))
    }

    private var subjectOnly: User? {
        named("sub").map { User(userID: $0, isDisplayable: false, uniqueID: $0) }
    }

    /// The claim as a name: without surrounding white space, in lower case; nil when blank.
    private func named(_ claim: String) -> String? { texts[claim]?.trimmedNonEmpty?.lowercased() }

    private static func object(_ data: Data) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
    }
}

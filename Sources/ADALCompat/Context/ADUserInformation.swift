internal import CompatSupport
public import Foundation
internal import TokenModel

/// The user of a token, as described by the ID token. Immutable; may be used from any thread.
public final class ADUserInformation: NSObject, NSCopying, NSSecureCoding, Sendable {
    /// The name to pass as `userId` in later requests: the user principal name if there is one; in lower case.
    ///
    /// The first of the claims `upn`, `email`, `sub`, `oid`, `unique_name` and `altsecid`; of a v2 token,
    /// `preferred_username` or else `sub`; of a token that is neither v1 nor v2, and has no `upn` or `unique_name`, `sub`.
    /// Without an ID token, the username of the account or else its identifier.
    public let userId: String
    /// The account's identifier in every tenant, equal to MSAL's `account.identifier`.
    ///
    /// `<object id>.<home tenant id>` for Entra accounts. Nil for an account known only from an older ADAL cache, and
    /// for an object made by `init(idToken:error:)`.
    public let homeAccountId: String?
    /// Whether `userId` is a name for display.
    public let userIdDisplayable: Bool
    /// The account's identifier in the tenant that issued the token: `oid` or else `sub`; in lower case. Of a token that is
    /// neither v1 nor v2, and has no `upn` or `unique_name`, always `sub`. Nil without an ID token.
    public let uniqueId: String?
    /// The ID token as received; empty if the agent has none.
    public let rawIdToken: String
    private let claims: UserClaims?

    /// Reads an ID token. Its signature is not checked.
    ///
    /// Returns nil, with the error `ERROR_SERVER_INVALID_ID_TOKEN` (206), if it cannot be read or names no user.
    public convenience init?(idToken: String, error: AutoreleasingUnsafeMutablePointer<ADAuthenticationError?>?) {
        guard let claims = UserClaims(idToken: idToken), let user = claims.user else {
            error?.pointee = ADAuthenticationError(
                .ERROR_SERVER_INVALID_ID_TOKEN, "the ID token cannot be read, or names no user")
            return nil
        }
        self.init(claims, user, idToken: idToken, homeAccountID: nil)
    }

    package convenience init?(idToken: String, homeAccountID: String?) {
        guard let claims = UserClaims(idToken: idToken), let user = claims.user else { return nil }
        self.init(claims, user, idToken: idToken, homeAccountID: homeAccountID)
    }

    /// - Parameters:
    ///   - claims: the claims of `idToken`.
    ///   - user: the user that `claims` name.
    init(_ claims: UserClaims, _ user: UserClaims.User, idToken: String, homeAccountID: String?) {
        self.userId = user.userID
        self.homeAccountId = homeAccountID
        self.userIdDisplayable = user.isDisplayable
        self.uniqueId = user.uniqueID
        self.rawIdToken = idToken
        self.claims = claims
    }

    /// Creates the information about an account without an ID token.
    package init(userID: String, isDisplayable: Bool, homeAccountID: String?) {
        self.userId = userID
        self.homeAccountId = homeAccountID
        self.userIdDisplayable = isDisplayable
        self.uniqueId = nil
        self.rawIdToken = ""
        self.claims = nil
    }

    /// The claim `given_name`.
    public var givenName: String? { claims?.text("given_name") }
    /// The claim `family_name`.
    public var familyName: String? { claims?.text("family_name") }
    /// The claim `idp`: the identity provider of a guest.
    public var identityProvider: String? { claims?.text("idp") }
    /// The claim `email`.
    public var eMail: String? { claims?.text("email") }
    /// The claim `unique_name`.
    public var uniqueName: String? { claims?.text("unique_name") }
    /// The claim `upn`, the user principal name.
    public var upn: String? { claims?.text("upn") }
    /// The claim `tid`: the tenant that issued the token.
    public var tenantId: String? { claims?.text("tid") }
    /// The claim `sub`: the identifier of the user for this app.
    public var subject: String? { claims?.text("sub") }
    /// The claim `oid`: the account's object ID in the tenant.
    public var userObjectId: String? { claims?.text("oid") }
    /// The claim `altsecid`.
    public var guestId: String? { claims?.text("altsecid") }
    /// All claims in the payload of the ID token, as `JSONSerialization` represents them; nil without an ID token.
    /// Converted at each access.
    public var allClaims: [AnyHashable: Any]? { claims?.all.foundationValue as? [String: Any] }

    /// Returns `userId` without surrounding white space and in lower case; nil if it is blank.
    public class func normalizeUserId(_ userId: String) -> String? {
        userId.trimmedNonEmpty?.inLowerCase
    }

    /// Whether ID token, home account ID and user ID are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADUserInformation else { return false }
        return rawIdToken == other.rawIdToken && homeAccountId == other.homeAccountId && userId == other.userId
    }

    /// Equal for equal objects.
    public override var hash: Int { rawIdToken.hashValue ^ userId.hashValue }

    /// Returns the object itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives can be decoded securely.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the object under the keys of ADAL, and the home account ID, which ADAL does not archive.
    public func encode(with coder: NSCoder) {
        coder.encode(rawIdToken as NSString, forKey: "rawIdToken")
        coder.encode(userId as NSString, forKey: "userId")
        coder.encode(userIdDisplayable, forKey: "userIdDisplayable")
        coder.encode(homeAccountId.map { $0 as NSString }, forKey: "homeAccountId")
    }

    /// Decodes an archive; returns nil if it names no user.
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

extension ADUserInformation {
    /// Creates the information from the ID token, or else from the account; nil if neither names a user.
    convenience init?(_ idToken: String?, _ account: AccountReference) {
        let homeAccountID = account.homeAccountID?.text
        if let idToken, let claims = UserClaims(idToken: idToken), let user = claims.user {
            self.init(claims, user, idToken: idToken, homeAccountID: homeAccountID)
        } else if let username = account.username.flatMap(ADUserInformation.normalizeUserId) {
            self.init(userID: username, isDisplayable: true, homeAccountID: homeAccountID)
        } else if let homeAccountID {
            self.init(userID: homeAccountID, isDisplayable: false, homeAccountID: homeAccountID)
        } else {
            return nil
        }
    }
}

/// The claims of an ID token, and the user they name by the rules of ADAL 2.7.
///
/// More lenient than `IDTokenClaims`, as ADAL is: a claim that is not a string counts as missing, and does not make the
/// token unreadable. Only the payload is read.
struct UserClaims: Sendable {
    /// The user of an ID token.
    struct User: Sendable, Equatable {
        var userID: String
        var isDisplayable: Bool
        var uniqueID: String?
    }

    /// All claims, as a JSON object.
    let all: JSONTree

    /// Returns nil unless `idToken` is a compact JWS, or the payload of one, that holds a JSON object.
    init?(idToken: String) {
        guard let all = IDTokenPayload.read(idToken) else { return nil }
        self.all = all
    }

    /// The claim as received; nil if it is missing or not a string.
    func text(_ claim: String) -> String? {
        if case .text(let text)? = all[claim] { text } else { nil }
    }

    /// The user; nil if no claim names one.
    ///
    /// The claim `ver` names the endpoint that issued the token, which decides which claims count. Tokens without it
    /// are those of AD FS and other identity providers.
    var user: User? {
        switch text("ver") {
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

    /// The claim as a name: without surrounding white space, in lower case; nil if it is blank.
    private func named(_ claim: String) -> String? { text(claim)?.trimmedNonEmpty?.lowercased() }
}

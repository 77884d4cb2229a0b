internal import Foundation
internal import TokenModel

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

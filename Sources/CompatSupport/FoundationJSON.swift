internal import Foundation
internal import Synchronization
package import TokenModel

/// JSON as the objects that the APIs of MSAL and ADAL return.
extension JSONTree {
    /// The value as `JSONSerialization` represents it: a `String`, an `NSNumber`, `NSNull`, an `[Any]` or a `[String:
    /// Any]`. If several members have one name, the last one counts.
    package var foundationValue: Any {
        switch self {
        case .null: return NSNull()
        case .bool(let value): return NSNumber(value: value)
        case .number(let digits): return Self.foundationNumber(digits)
        case .text(let text): return text
        case .list(let values): return values.map(\.foundationValue)
        case .object(let members):
            return Dictionary(members.map { ($0.name, $0.value.foundationValue) }, uniquingKeysWith: { $1 })
        }
    }

    private static func foundationNumber(_ digits: String) -> NSNumber {
        if let integer = Int64(digits) { return NSNumber(value: integer) }
        if let integer = UInt64(digits) { return NSNumber(value: integer) }
        return NSNumber(value: Double(digits) ?? 0)
    }
}

/// Reads the claims of ID tokens for the APIs of MSAL and ADAL, which return all of them.
package enum IDTokenPayload {
    /// Reads the payload of a compact JWS, or a payload alone. The signature is not checked.
    ///
    /// - Returns: a JSON object; nil if `idToken` has none.
    package static func read(_ idToken: String) -> JSONTree? {
        guard let payload = IDTokenClaims.payload(ofJWT: idToken),
            let claims = try? JSONReader.read(Array(payload), as: "the payload of an ID token"), claims.isObject
        else { return nil }
        return claims
    }

    /// Whether the payload can be read. A token that could be read is not read again while it is one of the last ones: apps ask for a
    /// token before every call, and get the same ID token each time.
    package static func isReadable(_ idToken: String) -> Bool {
        if recent.withLock({ $0.contains(idToken) }) { return true }
        guard read(idToken) != nil else { return false }
        recent.withLock { recent in
            if recent.count >= recentLimit { recent.removeFirst() }
            recent.append(idToken)
        }
        return true
    }

    /// The tokens that could be read last, the newest last. With `RecentValues` each hit would take some 180 instructions more.
    private static let recent = Mutex<[String]>([])
    /// Most apps use one account; those with several rarely use more than these in turn.
    private static let recentLimit = 4

    /// Reads the claims as `JSONSerialization` represents them; nil if `idToken` has none.
    package static func claims(of idToken: String) -> [String: Any]? {
        read(idToken)?.foundationValue as? [String: Any]
    }
}

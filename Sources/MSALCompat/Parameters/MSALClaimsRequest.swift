public import Foundation

/// Claims to ask for in tokens: the `claims` parameter (OpenID Connect Core 1.0 section 5.5).
///
/// Pass on what an API sent in its claims challenge with `MSALClaimsRequest(jsonString:error:)`.
open class MSALClaimsRequest: NSObject, MSALJsonSerializable, MSALJsonDeserializable {
    // In the order asked for; at most one of a name for each target.
    private var requests: [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] = [:]

    /// Asks for nothing yet.
    public override init() {}

    /// Reads JSON such as `{"access_token":{"nbf":{"essential":true,"value":"1"}}}`.
    ///
    /// When it cannot be read, `error` is set and nothing is asked for: `NSCocoaErrorDomain` 3840 for what is not JSON,
    /// `MSALErrorDomain` -50000 with internal code -42000 for a target, a member or a type that is none of a claims request's.
    /// Check `error`, or a challenge is lost.
    public required init(jsonString: String, error: NSErrorPointer) {
        super.init()
        do throws(NSError) {
            requests = try Self.parse(jsonString)
        } catch let failure {
            error?.pointee = failure
        }
    }

    /// The request as JSON text, its members in alphabetical order; `{}` when nothing is asked for.
    ///
    /// Nil when a claim's `value` or `values` are nothing that JSON knows.
    open func jsonString() -> String? {
        var json: [String: Any] = [:]
        for (target, requests) in requests where !requests.isEmpty {
            json[target.name] = Dictionary(
                requests.map { ($0.name, $0.additionalInfo?.json ?? NSNull() as Any) }, uniquingKeysWith: { $1 })
        }
        guard JSONSerialization.isValidJSONObject(json),
            let data = try? JSONSerialization.data(
                withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Asks for a claim; replaces an earlier request of the same name and target.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, when the name is blank.
    open func requestClaim(_ request: MSALIndividualClaimRequest, for target: MSALClaimsRequestTarget) throws {
        guard !request.name.allSatisfy(\.isWhitespace) else {
            throw MSALError.error(.internalErrorInvalidParameter, "the claim has no name")
        }
        var requests = requests[target, default: []].filter { $0.name != request.name }
        requests.append(request)
        self.requests[target] = requests
    }

    /// Asks no longer for a claim.
    ///
    /// - Throws: an error that is not MSAL's when it was not asked for.
    open func removeClaim(withName name: String, target: MSALClaimsRequestTarget) throws {
        guard let index = requests[target]?.firstIndex(where: { $0.name == name }) else {
            throw AccountLookupError.noSuchClaim(name)
        }
        requests[target]?.remove(at: index)
    }

    /// The claims asked for, in the order asked; empty when there is none for this target. Never nil.
    open func claimsRequests(for target: MSALClaimsRequestTarget) -> [MSALIndividualClaimRequest]? {
        requests[target] ?? []
    }

    /// Whether anything is asked for.
    var hasClaims: Bool { requests.values.contains { !$0.isEmpty } }
}

/// Which token a claim is asked for in.
@nonexhaustive(warn) public enum MSALClaimsRequestTarget: UInt, Sendable {
    /// The ID token.
    case idToken = 0
    /// The access token.
    case accessToken = 1
}

/// A claim to ask for. Two with the same name are equal: asking again replaces.
open class MSALIndividualClaimRequest: NSObject {
    /// The claim's name.
    open var name: String
    /// How it is asked for; nil: in the default way.
    open var additionalInfo: MSALIndividualClaimRequestAdditionalInfo?

    /// Asks for the claim `name`.
    public init(name: String) {
        self.name = name
    }

    /// Whether the names are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALIndividualClaimRequest)?.name == name
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { name.hashValue }
}

/// How a claim is asked for (OpenID Connect Core 1.0 section 5.5.1).
open class MSALIndividualClaimRequestAdditionalInfo: NSObject {
    /// Whether the claim is essential: a Boolean.
    open var essential: NSNumber?
    /// The value it has to have: anything JSON knows.
    open var value: Any?
    /// The values it may have, best first.
    open var values: [Any]?

    /// Asks for nothing special.
    public override init() {}

    /// The members that are set.
    var json: [String: Any] {
        var json: [String: Any] = [:]
        json["essential"] = essential?.boolValue
        json["value"] = value
        json["values"] = values
        return json
    }
}

/// Reading a claims request (OpenID Connect Core 1.0 section 5.5), as strictly as MSAL does: what it does not know is refused,
/// because a misspelt claim of a step-up challenge must not be lost.
///
/// What MSAL takes, and this too: a claim that is null; `essential` as any number; members of a claim besides the three known
/// ones, as long as one of these is there.
extension MSALClaimsRequest {
    /// - Throws: `NSCocoaErrorDomain` 3840 for what is no JSON object or array; -50000 with -42000 for an array, a target other
    ///   than `id_token` and `access_token`, a target that is no object, and a claim that is neither null nor an object with
    ///   `essential` (a number or Boolean), `value` (anything) or `values` (an array).
    static func parse(
        _ text: String
    ) throws(NSError) -> [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] {
        guard let json = try object(text) as? [String: Any] else {
            throw refusal("the claims request is not a JSON object")
        }
        var requests: [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] = [:]
        for (name, member) in json.sorted(by: { $0.key < $1.key }) {
            guard let target = MSALClaimsRequestTarget(name: name) else {
                throw refusal("claims cannot be asked for in \(name), only in id_token and access_token")
            }
            guard let claims = member as? [String: Any] else { throw refusal("\(name) is not a JSON object") }
            guard !claims.isEmpty else { continue }
            requests[target] = try claims.sorted { $0.key < $1.key }
                .map { (claim) throws(NSError) in try request(claim.key, claim.value) }
        }
        return requests
    }

    private static func object(_ text: String) throws(NSError) -> Any {
        do {
            return try JSONSerialization.jsonObject(with: Data(text.utf8))
        } catch {
            // The same on every system, whatever its JSON reader throws.
            throw NSError(
                domain: NSCocoaErrorDomain, code: CocoaError.propertyListReadCorrupt.rawValue,
                userInfo: [
                    NSLocalizedDescriptionKey: "the claims request is not JSON", NSUnderlyingErrorKey: error as NSError,
                ])
        }
    }

    private static func request(_ name: String, _ info: Any) throws(NSError) -> MSALIndividualClaimRequest {
        let request = MSALIndividualClaimRequest(name: name)
        switch info {
        case is NSNull: break
        case let info as [String: Any]: request.additionalInfo = try additionalInfo(info, of: name)
        default: throw refusal("the claim \(name) is neither null nor an object")
        }
        return request
    }

    private static func additionalInfo(
        _ json: [String: Any], of claim: String
    ) throws(NSError) -> MSALIndividualClaimRequestAdditionalInfo {
        let info = MSALIndividualClaimRequestAdditionalInfo()
        if let essential = json["essential"] {
            guard let number = essential as? NSNumber else {
                throw refusal("essential of the claim \(claim) is neither a Boolean nor a number")
            }
            info.essential = number
        }
        if let values = json["values"] {
            guard let values = values as? [Any] else { throw refusal("values of the claim \(claim) is not an array") }
            info.values = values
        }
        info.value = json["value"]
        guard info.essential != nil || info.value != nil || info.values != nil else {
            throw refusal("the claim \(claim) has none of essential, value and values")
        }
        return info
    }

    private static func refusal(_ message: String) -> NSError {
        MSALError.error(.internalErrorInvalidParameter, message)
    }
}

extension MSALClaimsRequestTarget {
    /// The target of a member of the JSON object; nil when there is none of this name.
    init?(name: String) {
        switch name {
        case "id_token": self = .idToken
        case "access_token": self = .accessToken
        default: return nil
        }
    }

    /// The member of the JSON object.
    var name: String {
        switch self {
        case .idToken: "id_token"
        case .accessToken: "access_token"
        }
    }
}

/// Can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
    /// The object as JSON text; nil when that cannot be done.
    func jsonString() -> String?
}

/// Can be read from JSON.
public protocol MSALJsonDeserializable: NSObjectProtocol {
    /// Reads JSON text. When it cannot be read, `error` is set and the object is empty: check `error` before use.
    init(jsonString: String, error: NSErrorPointer)
}

#if !canImport(ObjectiveC)
    public import class Foundation.NSError

    /// Where an error is put by an initialiser that does not throw; pass `&error` for a `var error: NSError?`.
    ///
    /// Foundation has this name on Apple's platforms only.
    public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

internal import CompatSupport
public import Foundation
internal import TokenModel

/// A request for claims in tokens: the `claims` parameter (OpenID Connect Core 1.0 section 5.5).
///
/// Pass the claims challenge of an API to `MSALClaimsRequest(jsonString:error:)`.
open class MSALClaimsRequest: NSObject, MSALJsonSerializable, MSALJsonDeserializable {
    // In the order of the requests; at most one with the same name for each target.
    private var requests: [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] = [:]

    /// Creates a request for no claims.
    public override init() {}

    /// Reads JSON such as `{"access_token":{"nbf":{"essential":true,"value":"1"}}}`.
    ///
    /// If it cannot be read, sets `error` and requests no claims: `NSCocoaErrorDomain` 3840 if it is not JSON,
    /// `MSALErrorDomain` -50000 with internal code -42000 for a target, a member or a type that a claims request does
    /// not have. Check `error`, so that a challenge is not lost.
    public required init(jsonString: String, error: NSErrorPointer) {
        super.init()
        do throws(NSError) {
            requests = try Self.parse(jsonString)
        } catch let failure {
            error?.pointee = failure
        }
    }

    /// Returns the request as JSON, its members in alphabetical order; `{}` without claims.
    ///
    /// Returns nil if `value` or `values` of a claim cannot be represented in JSON.
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

    /// Requests a claim; replaces an earlier request with the same name and target.
    ///
    /// - Throws: `MSALError.internal` (-50000), internal code -42000, if the name is blank.
    open func requestClaim(_ request: MSALIndividualClaimRequest, for target: MSALClaimsRequestTarget) throws {
        guard !request.name.allSatisfy(\.isWhitespace) else {
            throw MSALError.error(.internalErrorInvalidParameter, "the claim has no name")
        }
        var requests = requests[target, default: []].filter { $0.name != request.name }
        requests.append(request)
        self.requests[target] = requests
    }

    /// Removes the request for a claim.
    ///
    /// - Throws: an error of domain `Foundation._GenericObjCError`, code 0, if the claim was not requested.
    open func removeClaim(withName name: String, target: MSALClaimsRequestTarget) throws {
        guard let index = requests[target]?.firstIndex(where: { $0.name == name }) else {
            throw LookupError.notFound("the claim \(name) was not requested")
        }
        requests[target]?.remove(at: index)
    }

    /// Returns the requests for a target in the order in which they were made; empty if there is none. Never nil.
    open func claimsRequests(for target: MSALClaimsRequestTarget) -> [MSALIndividualClaimRequest]? {
        requests[target] ?? []
    }

    /// The request as JSON, for logs.
    open override var description: String { "\(super.description)(\(jsonString() ?? "not JSON"))" }

    /// Whether any claim is requested.
    var hasClaims: Bool { requests.values.contains { !$0.isEmpty } }
}

/// The token in which a claim is requested.
@nonexhaustive(warn) public enum MSALClaimsRequestTarget: UInt, Sendable {
    /// The ID token.
    case idToken = 0
    /// The access token.
    case accessToken = 1
}

/// A request for one claim. Of two requests with the same name in one `MSALClaimsRequest`, the later one replaces the earlier one.
///
/// Two requests are equal only if they are the same object.
open class MSALIndividualClaimRequest: NSObject {
    /// The claim's name.
    open var name: String
    /// How the claim is requested; nil for a voluntary claim with any value.
    open var additionalInfo: MSALIndividualClaimRequestAdditionalInfo?

    /// Requests the claim `name`.
    public init(name: String) {
        self.name = name
    }

    /// The name and how the claim is requested, for logs.
    open override var description: String {
        "\(super.description)(name=\(name), additional info=\(additionalInfo?.description ?? "(null)"))"
    }
}

/// How a claim is requested (OpenID Connect Core 1.0 section 5.5.1).
open class MSALIndividualClaimRequestAdditionalInfo: NSObject {
    /// Whether the claim is essential: a Boolean.
    open var essential: NSNumber?
    /// The value that the claim has to have: any JSON value.
    open var value: Any?
    /// The values that the claim may have, in order of preference.
    open var values: [Any]?

    /// Creates information without values.
    public override init() {}

    /// The values, for logs.
    open override var description: String {
        let texts = [essential, value, values].map { $0.map { "\($0)" } ?? "(null)" }
        return "\(super.description)(essential=\(texts[0]), value=\(texts[1]), values=\(texts[2]))"
    }

    /// The values that are set.
    var json: [String: Any] {
        var json: [String: Any] = [:]
        json["essential"] = essential?.boolValue
        json["value"] = value
        json["values"] = values
        return json
    }
}

/// Reads a claims request (OpenID Connect Core 1.0 section 5.5) as strictly as MSAL does: unknown members are rejected,
/// so that a misspelt claim of a step-up challenge is not lost.
///
/// Accepted as in MSAL: a claim that is null; `essential` as any number; other members of a claim besides the three
/// known ones, if one of these is present.
extension MSALClaimsRequest {
    /// Reads the JSON of a claims request.
    ///
    /// - Throws: `NSCocoaErrorDomain` 3840 if `text` is not JSON; -50000 with -42000 for an array, a target other than `id_token`
    ///   and `access_token`, a target that is not an object, and a claim that is neither null nor an object with `essential` (a
    ///   number or Boolean), `value` (any value) or `values` (an array).
    static func parse(_ text: String) throws(NSError) -> [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] {
        guard let json = try value(of: text) as? [String: Any] else {
            throw refusal("the claims request is not a JSON object")
        }
        var requests: [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] = [:]
        for (name, member) in json.sorted(by: { $0.key < $1.key }) {
            guard let target = MSALClaimsRequestTarget(name: name) else {
                throw refusal("claims cannot be requested in \(name), only in id_token and access_token")
            }
            guard let claims = member as? [String: Any] else { throw refusal("\(name) is not a JSON object") }
            guard !claims.isEmpty else { continue }
            requests[target] = try claims.sorted { $0.key < $1.key }
                .map { (claim) throws(NSError) in try request(claim.key, claim.value) }
        }
        return requests
    }

    private static func value(of text: String) throws(NSError) -> Any {
        do throws(TokenError) {
            let value = try JSONReader.read(Array(text.utf8))
            switch value {
            case .object, .list: return value.foundationValue
            case .null, .bool, .number, .text: throw TokenError(.cacheBadFormat, "neither a JSON object nor a list")
            }
        } catch {
            // The error of `JSONSerialization`, by which MSAL reads the text: it accepts objects and lists only.
            throw NSError(
                domain: NSCocoaErrorDomain, code: CocoaError.propertyListReadCorrupt.rawValue,
                userInfo: [NSLocalizedDescriptionKey: "the claims request is \(error.message)"])
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
    /// Creates the target with the name of a JSON member; returns nil for another name.
    init?(name: String) {
        switch name {
        case "id_token": self = .idToken
        case "access_token": self = .accessToken
        default: return nil
        }
    }

    /// The name of the JSON member.
    var name: String {
        switch self {
        case .idToken: "id_token"
        case .accessToken: "access_token"
        }
    }
}

/// A type that can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
    /// The object as JSON text; nil if that cannot be done.
    func jsonString() -> String?
}

/// A type that can be read from JSON.
public protocol MSALJsonDeserializable: NSObjectProtocol {
    /// Reads JSON text. When it cannot be read, `error` is set and the object is empty: check `error` before use.
    init(jsonString: String, error: NSErrorPointer)
}

#if !canImport(ObjectiveC)
    public import class Foundation.NSError

    /// The type of error parameters of initializers that do not throw: pass `&error` of a `var error: NSError?`.
    ///
    /// Foundation has a type of this name on Apple's platforms only.
    public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif

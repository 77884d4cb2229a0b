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

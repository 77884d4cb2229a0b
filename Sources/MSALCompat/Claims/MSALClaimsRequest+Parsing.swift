internal import Foundation

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

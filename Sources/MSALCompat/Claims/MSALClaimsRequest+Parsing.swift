internal import Foundation

extension MSALClaimsRequest {
    static func parse(
        _ text: String
    ) throws(NSError) -> [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] {
        guard let json = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] else {
            throw MSALError.error(.internalErrorInvalidParameter, "the claims request is not a JSON object")
        }
        var requests: [MSALClaimsRequestTarget: [MSALIndividualClaimRequest]] = [:]
        for target in [MSALClaimsRequestTarget.idToken, .accessToken] {
            guard let member = json[target.name] else { continue }
            guard let claims = member as? [String: Any] else {
                throw MSALError.error(.internalErrorInvalidParameter, "\(target.name) is not a JSON object")
            }
            requests[target] = try claims.sorted { $0.key < $1.key }
                .map { (claim) throws(NSError) in try request(claim.key, claim.value) }
        }
        return requests
    }

    private static func request(_ name: String, _ info: Any) throws(NSError) -> MSALIndividualClaimRequest {
        let request = MSALIndividualClaimRequest(name: name)
        switch info {
        case is NSNull: break
        case let info as [String: Any]: request.additionalInfo = MSALIndividualClaimRequestAdditionalInfo(json: info)
        default:
            throw MSALError.error(.internalErrorInvalidParameter, "the claim \(name) is neither null nor an object")
        }
        return request
    }
}

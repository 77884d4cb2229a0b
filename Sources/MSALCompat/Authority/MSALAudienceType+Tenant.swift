internal import Foundation
internal import TokenModel

extension MSALAudienceType {
    /// The path that stands for the audience.
    func tenant(rawTenant: String?) throws(NSError) -> String {
        let rawTenant = rawTenant?.trimmedNonEmpty
        if self == .azureADMyOrgOnlyAudience {
            guard let rawTenant else {
                throw MSALError.error(
                    .internalErrorInvalidParameter, "an audience of one organisation needs its tenant")
            }
            return rawTenant
        }
        guard rawTenant == nil else {
            throw MSALError.error(.internalErrorInvalidParameter, "a tenant goes with azureADMyOrgOnlyAudience only")
        }
        return switch self {
        case .azureADMultipleOrgsAudience: "organizations"
        case .personalMicrosoftAccountAudience: "consumers"
        default: "common"
        }
    }
}

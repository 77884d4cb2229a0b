internal import Foundation

extension Ledger {
    /// RFC 7522 section 2.1: an identity provider's word for who somebody is. The emulator takes anybody's word.
    mutating func redeemAssertion(_ redemption: Redemption) throws(OAuthFailure) -> TokenOrder {
        guard let subject = SAMLAssertion(parameter: try redemption.parameters.required("assertion"))?.subject else {
            throw .badAssertion
        }
        let user = addUser(subject)
        guard !user.isDisabled else { throw .disabledUser }
        return order(
            for: user, tenantID: try tenantID(of: user, at: redemption.authority.realm),
            scopes: try redemption.scopes(default: []), resource: redemption.parameters["resource"], nonce: nil,
            redemption: redemption)
    }
}

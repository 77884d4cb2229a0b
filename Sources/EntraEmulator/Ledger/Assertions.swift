internal import Foundation

/// The part of a SAML assertion that the emulator reads.
struct SAMLAssertion: Sendable {
    /// The subject: the text of `NameID` (SAML 2.0) or `NameIdentifier` (SAML 1.1).
    let subject: String

    /// Parses the `assertion` parameter, in base64 or base64url; nil if it has no subject.
    init?(parameter: String) {
        guard let bytes = data(base64URL: parameter.replacing("=", with: "")) else { return nil }
        let xml = String(decoding: bytes, as: UTF8.self)
        guard let name = xml.firstRange(of: "NameID") ?? xml.firstRange(of: "NameIdentifier"),
            let end = xml[name.upperBound...].firstIndex(of: ">")
        else { return nil }
        let text = xml[xml.index(after: end)...].prefix { $0 != "<" }
        let subject = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !subject.isEmpty else { return nil }
        self.subject = subject
    }
}

extension Ledger {
    /// Redeems a SAML assertion (RFC 7522 section 2.1). The emulator does not verify its signature.
    mutating func redeemAssertion(_ redemption: Redemption) throws(OAuthFailure) -> TokenDescriptor {
        guard let subject = SAMLAssertion(parameter: try redemption.parameters.required("assertion"))?.subject else {
            throw .badAssertion
        }
        let user = addUser(subject)
        guard !user.isDisabled else { throw .disabledUser }
        return describeTokens(
            for: user, tenantID: try tenantID(of: user, at: redemption.authority.realm),
            scopes: try redemption.scopes(default: []), resource: redemption.parameters["resource"], nonce: nil,
            claims: try redemption.claims(ofSignIn: ClaimsRequest()), redemption: redemption)
    }
}
